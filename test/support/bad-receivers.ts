import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { onTestFinished } from 'vitest';
import { freePort } from './postgres-server.ts';

// In a process of their own: answering thousands of requests must not delay whoever measures.
const RECEIVERS = `
  import { createServer } from 'node:http';
  import net from 'node:net';
  let hanging = 0;
  const hangs = net.createServer((socket) => socket.on('error', () => {}).once('data', () => { hanging += 1; }));
  const refuses = createServer((request, response) => request.resume().on('end', () => response.writeHead(503).end()));
  const counts = createServer((request, response) => response.end(String(hanging)));
  const ports = await Promise.all([hangs, refuses, counts].map((server) =>
    new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(server.address().port)))));
  process.stdout.write(JSON.stringify(ports));
`;

export interface BadReceivers {
  /** Takes requests and never answers. */
  hangs: string;
  /** Answers each with a 503. */
  refuses: string;
  /** Nobody listens there. */
  nobody: string;
  /** How many requests it has left hanging. */
  countHanging(): Promise<number>;
}

export const startBadReceivers = async (): Promise<BadReceivers> => {
  const child = spawn(process.execPath, ['--input-type=module', '-e', RECEIVERS], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(child, 'close');
  onTestFinished(async () => {
    child.kill('SIGKILL');
    await ended;
  });
  const [ports] = await once(child.stdout, 'data');
  const [hangs, refuses, counts] = JSON.parse(String(ports)).map(
    (port: number) => `http://127.0.0.1:${port}/`,
  );
  return {
    hangs,
    refuses,
    nobody: `http://127.0.0.1:${await freePort()}/`,
    countHanging: async () => Number(await (await fetch(counts)).text()),
  };
};
