import { readdirSync } from 'node:fs';
import { cruise } from 'dependency-cruiser';
import { forbidden, options } from './import-rules.ts';

// Checks the rules of import-rules.ts. A parser that reads nothing reports success, so the check counts what it read.

const SOURCE = /\.(tsx?|js)$/;
const FOLDERS = ['contract', 'src', 'bin', 'admin', 'bench'];

const { output } = await cruise(FOLDERS, { ...options, ruleSet: { forbidden }, validate: true });
if (typeof output === 'string') throw new Error('expected a result, not a report');
const { modules, summary } = output;

const counted = FOLDERS.map((folder) => {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) =>
    SOURCE.test(file),
  );
  const read = modules.filter(({ source }) => source.startsWith(`${folder}/`) && SOURCE.test(source));
  const imports = read.reduce((sum, { dependencies }) => sum + dependencies.length, 0);
  return { folder, files: files.length, read: read.length, imports };
});
const unread = counted.filter(({ files, read, imports }) => read === 0 || read !== files || imports < read);

const print = (line: string) => process.stdout.write(`${line}\n`);
for (const { rule, from, to } of summary.violations) print(`${rule.name}: ${from} → ${to}`);
for (const { folder, files, read, imports } of counted)
  print(`${folder}/: ${read} of ${files} files and ${imports} imports read`);
print(`${summary.violations.length} violations`);
if (unread.length > 0 || summary.violations.length > 0) process.exitCode = 1;
