import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'vitest';
import { freePort } from './postgres-server.ts';
import { startProgram, temporaryFolder } from './process.ts';
import { type Tool, toolPath } from './tools.ts';

// The code in docs/guide, as a reader would run it: files are saved under the name in their first line, shell blocks run one after
// the other in one shell, and what is marked for a second terminal runs beside them.

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const GUIDE = join(ROOT, 'docs', 'guide');
const COMMAND = join(ROOT, 'dist', 'service', 'handback.js');

export const guidePages = (): string[] => readdirSync(GUIDE).filter((name) => name.endsWith('.md'));
export const guideText = (page: string): string => readFileSync(join(GUIDE, page), 'utf8');

interface Snippet {
  language: string;
  marks: string[];
  code: string;
}

export const snippetsOf = (page: string): Snippet[] =>
  [...guideText(page).matchAll(/^```(\S*)(.*)\n([\s\S]*?)^```$/gm)].map(([, language, marks, code]) => ({
    language: String(language),
    marks: String(marks).split(' ').filter(Boolean),
    code: String(code),
  }));

/** The name that a program is saved under: the comment in its first lines. */
const fileNameOf = (code: string): string | undefined =>
  /^(?:<\?php\n)?(?:\/\/|#) (\w+\.\w+)$/m.exec(code)?.[1];

const programIn = (page: string, file: string): string => {
  const found = snippetsOf(page).find(({ code }) => fileNameOf(code) === file);
  if (!found) throw new Error(`docs/guide/${page} has no program ${file}`);
  return found.code;
};

/** Starts a program in a folder. `output`: both streams. */
export const start = (file: string, args: string[], folder: string, env: Record<string, string>) => {
  const PATH = [dirname(process.execPath), process.env['PATH']].join(delimiter);
  const options = { cwd: folder, env: { ...env, PATH }, detached: true };
  const { out, ended, kill } = startProgram(file, args, options);
  return {
    output: () => out.stdout + out.stderr,
    stdout: () => out.stdout,
    ended: ended.then(({ status }) => status),
    kill,
  };
};

/** A program of a guide in a folder of its own; without a tool Node runs it. */
export const programOf = (page: string, file: string, tool: Tool | null) => {
  const folder = temporaryFolder();
  writeFileSync(join(folder, file), programIn(page, file));
  const program = () => (tool ? toolPath(tool) : process.execPath);
  return { folder, program, start: (env: Record<string, string>) => start(program(), [file], folder, env) };
};

/** What a reader has: the address, the key and the secret of a client. */
export interface Reader {
  url: string;
  apiKey: string;
  webhookSecret: string;
  /** Where a receiver listens; a free one when absent. */
  receiverPort?: number;
}

/** An error response fails the page; a receiver that is just starting is asked again. */
const PREAMBLE = [
  'set -euo pipefail',
  'curl() { command curl --fail-with-body --show-error --retry 30 --retry-connrefused --retry-delay 1 "$@"; }',
  'npx() { shift 2; node "$HANDBACK" "$@"; }',
  "trap 'kill $(jobs -p) 2>/dev/null || true' EXIT",
];

/** Runs the shell blocks of a page from top to bottom, none of which may fail, and gives what was printed. */
export const runPage = async (page: string, reader: Reader) => {
  const folder = temporaryFolder();
  const port = reader.receiverPort ?? (await freePort());
  const forReader = (code: string): string =>
    code
      .replaceAll('https://returns.example.com', reader.url)
      .replaceAll('handback_ext_…', reader.apiKey)
      .replaceAll('whsec_…', reader.webhookSecret)
      .replaceAll('127.0.0.1:4000', `127.0.0.1:${port}`);
  const all = snippetsOf(page);
  for (const { code } of all) {
    const name = fileNameOf(code);
    if (name) writeFileSync(join(folder, name), code);
  }
  const blocks = all
    .filter((snippet) => snippet.language === 'sh')
    .map(({ code, marks }) =>
      marks.includes('second-terminal') ? `{ ${forReader(code)} } >>second.txt 2>&1 &` : forReader(code),
    );
  writeFileSync(join(folder, 'page.sh'), [...PREAMBLE, ...blocks].join('\n'));
  writeFileSync(join(folder, 'second.txt'), '');
  const shell = start('bash', ['page.sh'], folder, {
    HANDBACK: COMMAND,
    PORT: String(port),
    KEY: reader.apiKey,
    SECRET: reader.webhookSecret,
    HOME: folder,
    // On the server, with its settings.
    DATA_DIR: join(folder, 'data'),
  });
  expect(await shell.ended, shell.output()).toBe(0);
  return { output: shell.output(), secondTerminal: readFileSync(join(folder, 'second.txt'), 'utf8') };
};
