import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { freePort } from './postgres-server.ts';
import { temporaryFolder } from './process.ts';
import { toolPath } from './tools.ts';
import { until } from './until.ts';

/** A real proxy before the service, with this configuration. Gives what waits until it sends requests to a server of its backend. */
export const startHaproxy = async (configuration: string): Promise<(server: string) => Promise<void>> => {
  const statsPort = await freePort();
  const file = join(temporaryFolder(), 'haproxy.cfg');
  const stats = `frontend figures\n  bind 127.0.0.1:${statsPort}\n  stats enable\n  stats uri /\n`;
  writeFileSync(file, `${configuration}\n${stats}`);
  const proxy = spawn(toolPath('haproxy'), ['-f', file, '-db'], { stdio: ['ignore', 'ignore', 'pipe'] });
  let said = '';
  proxy.stderr.on('data', (text) => {
    said += text;
  });
  const ended = new Promise((resolve) => proxy.once('close', resolve));
  onTestFinished(async () => {
    proxy.kill('SIGKILL');
    await ended;
  });
  const isUp = async (server: string): Promise<boolean> => {
    if (proxy.exitCode !== null) throw new Error(`haproxy ended: ${said}`);
    const table = await fetch(`http://127.0.0.1:${statsPort}/;csv`).then(
      (answer) => answer.text(),
      () => '',
    );
    return table.split('\n').some((line) => line.startsWith(`handback,${server},`) && /,UP,/.test(line));
  };
  return async (server) => void (await until(`the proxy uses ${server}`, () => isUp(server)));
};
