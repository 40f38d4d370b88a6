import { readdirSync } from 'node:fs';
import { cruise } from 'dependency-cruiser';
import { forbidden, options } from './import-rules.ts';

// Holds the rules of import-rules.ts. A parser that reads nothing reports success, so what was read is counted.

const SOURCE = /\.(tsx?|js)$/;
const FOLDERS = ['contract', 'src', 'bin', 'admin'];

const sources = FOLDERS.flatMap((folder) =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) => SOURCE.test(file)),
);
const { output } = await cruise(FOLDERS, { ...options, ruleSet: { forbidden }, validate: true });
if (typeof output === 'string') throw new Error('expected a result, not a report');

const own = output.modules.filter(
  ({ source }) => SOURCE.test(source) && FOLDERS.some((folder) => source.startsWith(`${folder}/`)),
);
const imports = own.flatMap(({ dependencies }) => dependencies);
const say = (line: string) => process.stdout.write(`${line}\n`);

for (const { rule, from, to } of output.summary.violations) say(`${rule.name}: ${from} → ${to}`);
say(
  `${own.length} of ${sources.length} files and ${imports.length} imports read, ${output.summary.violations.length} violations`,
);
if (own.length !== sources.length || imports.length < own.length || output.summary.violations.length > 0)
  process.exitCode = 1;
