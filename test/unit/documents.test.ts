import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { readConfig } from '../../src/platform/config.ts';
import { runHere } from '../support/commands-here.ts';

// Files, headings, commands and settings that the repository's documents name must exist.

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const read = (path: string): string => readFileSync(`${ROOT}${path}`, 'utf8');
const tracked = (...patterns: string[]): string[] =>
  execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', '--', ...patterns], {
    cwd: ROOT,
    encoding: 'utf8',
  })
    .split('\n')
    .filter((path) => path && existsSync(`${ROOT}${path}`));

const withoutCode = (text: string): string => text.replaceAll(/^```[\s\S]*?^```$/gm, '');

/** The anchors of a page as code hosts generate them; upper and lower case are the same. */
const anchorsOf = (path: string): string[] =>
  [...withoutCode(read(path)).matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}_ -]/gu, '')
      .replaceAll(' ', '-'),
  );

const broken = (from: string, file: string, anchor: string): string[] => {
  const path = file === '' ? from : posix.join(posix.dirname(from), file);
  if (!existsSync(`${ROOT}${path}`)) return [`${from}: there is no ${path}`];
  const isThere = anchor === '' || anchorsOf(path).includes(anchor.toLowerCase());
  return isThere ? [] : [`${from}: ${path} has no heading #${anchor}`];
};

describe('the documents', () => {
  it('link to files and headings that exist', () => {
    const links = tracked('*.md').flatMap((from) =>
      [...withoutCode(read(from)).matchAll(/\]\((?!https?:)([^)#\s]*)#?([^)\s]*)\)/g)].map(
        ([, file = '', anchor = '']) => ({ from, file, anchor }),
      ),
    );
    expect(links.length).toBeGreaterThan(300);
    expect(links.flatMap(({ from, file, anchor }) => broken(from, file, anchor))).toEqual([]);
  });

  it('are where comments, messages and deployment files say', () => {
    const files = tracked('src', 'admin/src', 'contract', 'scripts', 'bench', 'deploy', 'test', '.ci');
    const named = files.flatMap((from) =>
      [...read(from).matchAll(/(?<!\/)\bdocs\/[\w/-]+\.md(?:#([\w-]+))?/g)].map(([link, anchor = '']) => ({
        from,
        path: link.split('#')[0] ?? '',
        anchor,
      })),
    );
    expect(named.length).toBeGreaterThan(50);
    const missing = named.flatMap(({ from, path, anchor }) =>
      broken(from, posix.relative(posix.dirname(from), path), anchor),
    );
    expect(missing).toEqual([]);
  });
});

it('architecture.md names files that exist', () => {
  const FOLDERS = 'admin|bench|bin|contract|deploy|docs|generators|mutations|recipes|scripts|src|test';
  const page = withoutCode(read('docs/architecture.md'));
  const named = [...page.matchAll(/`([\w/-]+\/[\w.-]+\.\w+)`/g)].map(([, path = '']) =>
    new RegExp(`^(${FOLDERS})/`).test(path) ? path : `src/${path}`,
  );
  expect(named.length).toBeGreaterThan(30);
  const roots = ['', 'src/db/', 'src/returns/', 'admin/src/returns/'];
  const exists = (path: string) =>
    roots.some((root) => existsSync(`${ROOT}${root === '' ? path : path.replace(/^src\//, root)}`));
  expect(named.filter((path) => !exists(path))).toEqual([]);
});

describe('the pages for operators', () => {
  const pages = readdirSync(`${ROOT}docs/operations`).map((name) => read(`docs/operations/${name}`));
  const GROUPS = ['client', 'customer', 'mail', 'secrets', 'shop', 'user'];
  const helpOf = async (...command: string[]): Promise<string> =>
    (await runHere([...command, '--help'], {})).stdout;
  const commandsIn = (help: string): string[] =>
    [...(help.split('\nCommands:\n')[1] ?? '').matchAll(/^ {2}([a-z-]+)/gm)]
      .map(([, name = '']) => name)
      .filter((name) => name !== 'help');

  it('name only commands and options that exist', async () => {
    const named = [...pages.join('\n').matchAll(/(?:`|^|sudo |npx )handback ([a-z]+)((?: [^`\n]*)?)/gm)];
    expect(named.length).toBeGreaterThan(60);
    for (const [text, command = '', rest = ''] of named) {
      const [, second = ''] = /^ ([a-z]+(?:-[a-z]+)?)\b/.exec(rest) ?? [];
      const path = GROUPS.includes(command) ? [command, second] : [command];
      const help = await helpOf(...path);
      expect(help, text).toMatch(new RegExp(`^Usage: handback ${path.join(' ')} `));
      for (const [option] of rest.matchAll(/--[a-z-]+/g)) expect(help, text).toContain(option);
    }
  });

  it('describe every command', async () => {
    const page = read('docs/operations/commands.md');
    for (const command of commandsIn(await helpOf())) {
      const paths = GROUPS.includes(command)
        ? commandsIn(await helpOf(command)).map((second) => `${command} ${second}`)
        : [command];
      for (const path of paths) expect(page).toContain(`- \`handback ${path}`);
    }
  });

  it('describe every setting, under a heading of its own', () => {
    const settings: string[] = [];
    readConfig({}, ({ name }) => settings.push(name));
    expect(settings.length).toBeGreaterThan(20);
    const page = read('docs/operations/configure.md');
    for (const name of settings) expect(page).toContain(`\n### \`${name}\`\n\nDefault: `);
  });
});
