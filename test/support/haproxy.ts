import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { freePort } from './postgres-server.ts';
import { temporaryFolder } from './process.ts';
import { toolPath } from './tools.ts';
import { until } from './until.ts';

// A real proxy before the service, set up as operators do: it goes by /readyz and repeats no request that was sent.

const configuration = (port: number, statsPort: number, serverPorts: number[]): string => `
defaults
  mode http
  option http-keep-alive
  option redispatch
  retries 3
  retry-on conn-failure
  timeout connect 2s
  timeout check 5s
  timeout client 60s
  timeout server 30s
frontend callers
  bind 127.0.0.1:${port}
  default_backend handback
frontend operators
  bind 127.0.0.1:${statsPort}
  stats enable
  stats uri /
backend handback
  balance roundrobin
  option httpchk GET /readyz
  default-server check inter 500ms fall 1 rise 1
${serverPorts.map((each) => `  server on-${each} 127.0.0.1:${each}`).join('\n')}
`;

export interface Proxy {
  url: string;
  /** Waits until the proxy sends requests to that server. */
  uses(serverPort: number): Promise<void>;
}

export const startProxy = async (serverPorts: number[]): Promise<Proxy> => {
  const [port, statsPort] = [await freePort(), await freePort()];
  const file = join(temporaryFolder(), 'haproxy.cfg');
  writeFileSync(file, configuration(port, statsPort, serverPorts));
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
  const isUp = async (serverPort: number): Promise<boolean> => {
    if (proxy.exitCode !== null) throw new Error(`haproxy ended: ${said}`);
    const table = await fetch(`http://127.0.0.1:${statsPort}/;csv`).then(
      (answer) => answer.text(),
      () => '',
    );
    return table
      .split('\n')
      .some((line) => line.startsWith(`handback,on-${serverPort},`) && /,UP,/.test(line));
  };
  const uses = (serverPort: number) =>
    until(`the proxy uses ${serverPort}`, () => isUp(serverPort), 20_000).then(() => {});
  return { url: `http://127.0.0.1:${port}`, uses };
};
