// engines: postgres

import {
  chmodSync,
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import { freePort } from '../support/postgres-server.ts';
import { ownPostgres, ran, temporaryFolder } from '../support/process.ts';
import { makeCertificate } from '../support/proxies.ts';
import { needs, toolPath } from '../support/tools.ts';
import { scaled } from '../support/until.ts';

// docs/operations/ as an operator would follow it: the commands that install and upgrade the service run as they stand, in a folder
// that stands for the machine. What only root or a registry can do is replaced by what it would leave behind.

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const shellBlocks = (page: string, heading: string): string[] => {
  const text = readFileSync(join(ROOT, 'docs', 'operations', page), 'utf8');
  const [, section = ''] = text.split(`\n## ${heading}\n`);
  const blocks = [...(section.split('\n## ')[0] ?? '').matchAll(/^```sh\n([\s\S]*?)^```$/gm)];
  if (blocks.length === 0) throw new Error(`${page} has no commands below ${heading}`);
  return blocks.map(([, code = '']) => code);
};

/** Programs of the machine, by name. `$MACHINE` is its folder. */
const STAND_INS: Record<string, string> = {
  'apt-get': 'echo "$@"',
  useradd: 'echo "$@"',
  journalctl: 'cat "$MACHINE"/log/*; exit 1',
  // `npm ci` is tested by installed-package.test.ts.
  npm: 'test -f package.json',
  tar: 'ln -s "$PACKAGE"/* .',
  sudo: 'if [ "$1" = -u ]; then shift 2; fi; exec "$@"',
  runuser: 'shift 3; exec "$@"',
  // Without the group, which is not here.
  install:
    'for each in "$@"; do shift; if [ "$each" = -g ]; then skip=yes; elif [ "$skip" ]; then skip=; else set -- "$@" "$each"; fi; done; exec /usr/bin/install "$@"',
  // On a busy machine what was just started may take longer than the second that it is given.
  curl: 'exec "$CURL" --insecure --retry 30 --retry-delay 1 --retry-connrefused "$@"',
  psql: 'while [ $# -gt 0 ]; do node "$MACHINE/bin/query.mjs" "$2"; shift 2; done',
  systemctl: `
    if [ "$2" = --now ]; then shift 2; else shift; fi
    for unit in "$@"; do
      pid="$MACHINE/run/$unit"
      if [ -e "$pid" ]; then
        kill "$(cat "$pid")"
        while kill -0 "$(cat "$pid")" 2>/dev/null; do sleep 0.1; done
      fi
      case $unit in
        handback@*)
          file="$MACHINE/etc/systemd/system/handback@.service"
          program=$(sed -n 's/^ExecStart=//p' "$file")
          (set -a; eval "$(sed -n "s/^Environment=//p" "$file" | sed "s/%i/\${unit#*@}/g")"
           . "$(sed -n 's/^EnvironmentFile=//p' "$file")"; mkdir -p "$BACKUP_DIR"; exec $program) >> "$MACHINE/log/$unit" 2>&1 & ;;
        haproxy) haproxy -db -f "$MACHINE/etc/haproxy/haproxy.cfg" >> "$MACHINE/log/$unit" 2>&1 & ;;
        *) continue ;;
      esac
      echo $! > "$pid"
      sleep 1
    done`,
};

const QUERY = (pgModule: string, url: string) => `
import pg from ${JSON.stringify(pgModule)};
const client = new pg.Client(${JSON.stringify(url)});
await client.connect();
await client.query(process.argv[2]);
await client.end();
`;

/** A folder that stands for an empty machine, and what runs commands there. */
const emptyMachine = async () => {
  const machine = temporaryFolder();
  const { postgres } = await ownPostgres();
  const ports = { '3001': await freePort(), '3002': await freePort() };
  const secure = await freePort();
  const here = (text: string): string =>
    text
      .replace(/(?<![\w.}~])\/(?=(etc|opt|var\/lib|usr\/local\/bin)\/)/g, `${machine}/`)
      .replaceAll('/usr/bin/node', process.execPath)
      .replaceAll('127.0.0.1:5432', new URL(postgres.url).host)
      .replace(/\b300[12]\b/g, (port) => String(ports[port as '3001' | '3002']))
      .replaceAll('https://returns.example.com', `https://127.0.0.1:${secure}`)
      .replace('bind :80\n', '')
      .replace('bind :443 ', `bind 127.0.0.1:${secure} `);

  for (const folder of [
    'bin',
    'run',
    'log',
    'opt',
    'etc/haproxy',
    'etc/prometheus',
    'etc/systemd/system',
    'usr/local/bin',
  ])
    mkdirSync(join(machine, folder), { recursive: true });
  for (const [name, commands] of Object.entries(STAND_INS)) {
    writeFileSync(join(machine, 'bin', name), `#!/bin/bash\nset -e\n${commands}\n`);
    chmodSync(join(machine, 'bin', name), 0o755);
  }
  writeFileSync(join(machine, 'bin', 'query.mjs'), QUERY(import.meta.resolve('pg'), postgres.url));

  const unpacked = join(machine, 'package');
  mkdirSync(unpacked);
  for (const name of ['bin', 'dist', 'node_modules', 'package.json'])
    symlinkSync(join(ROOT, name), join(unpacked, name));
  cpSync(join(ROOT, 'deploy'), join(unpacked, 'deploy'), { recursive: true });
  for (const name of ['handback.env', 'handback.sh', 'handback@.service', 'haproxy.cfg']) {
    const file = join(unpacked, 'deploy', name);
    writeFileSync(file, here(readFileSync(file, 'utf8')));
  }

  onTestFinished(() => {
    for (const unit of readdirSync(join(machine, 'run')))
      try {
        process.kill(Number(readFileSync(join(machine, 'run', unit), 'utf8')), 'SIGKILL');
      } catch {
        // It has ended.
      }
  });
  const follow = async (blocks: string[]): Promise<string> => {
    const file = join(machine, 'page.sh');
    const path = [
      ...[join(machine, 'bin'), join(machine, 'usr/local/bin'), dirname(process.execPath)],
      ...[process.env['PATH'], '/usr/sbin'],
    ].join(delimiter);
    writeFileSync(file, ['set -euo pipefail', `export PATH='${path}'`, ...blocks.map(here)].join('\n'));
    const env = { MACHINE: machine, PACKAGE: unpacked, CURL: toolPath('curl'), HOME: machine };
    const { status, output } = await ran('bash', [file], { cwd: machine, env });
    expect(status, output).toBe(0);
    return output;
  };
  return { machine, follow };
};

/** The schedule's first backup is taken at the first start, and takes a moment. */
const WAIT_FOR_BACKUP = 'until ls /var/lib/handback/backups/*.backup; do sleep 0.2; done';

describe('docs/operations', needs('bash', 'curl', 'haproxy', 'openssl', 'promtool'), () => {
  it('leads from an empty machine to a service, and to its next version', {
    timeout: scaled(180_000),
  }, async () => {
    const { machine, follow } = await emptyMachine();
    makeCertificate(join(machine, 'etc', 'haproxy'), 'handback.pem');
    const blocks = shellBlocks('install.md', 'From an empty machine').flatMap((block) =>
      block.includes('restore --check') ? [WAIT_FOR_BACKUP, block] : [block],
    );
    const output = await follow(blocks);
    expect(output.match(/"status":"ready"/g), output).toHaveLength(3);
    expect(output).toMatch(/^link +https:\/\/127\.0\.0\.1:\d+\/admin\/link#\w+$/m);
    expect(output).toContain('compared with the file row by row');
    expect(output).toContain('is valid prometheus config file syntax');
    expect(output).toMatch(/^PUBLIC_URL .* environment$/m);
    expect(output).toMatch(/^ok +database +PostgreSQL/m);
    expect(output, 'doctor finds nothing wrong').not.toMatch(/^(wrong|warn) /m);

    const upgraded = await follow(shellBlocks('upgrade.md', 'Upgrade one machine'));
    expect(upgraded.match(/"status":"ready"/g), upgraded).toHaveLength(2);
    expect(readlinkSync(join(machine, 'opt', 'handback'))).toBe(join(machine, 'opt', 'handback-0.2.0'));
  });
});
