import { once } from 'node:events';
import { get } from 'node:http';
import { connect } from 'node:net';
import { constants, setPriority } from 'node:os';
import { setTimeout as pause } from 'node:timers/promises';
import type { GreedyOrder } from './greedy.ts';

// One shop's callers who ask for large pages without a pause, and others who ask and hardly read. Until the process is ended.

// They stand for other people's machines, and must not take this one's time from whoever is measured.
setPriority(constants.priority.PRIORITY_LOW);
const { url, paths, key, callers, slowReaders } = JSON.parse(process.argv[2] ?? '') as GreedyOrder;

const SLOW_BYTES = 4 * 1024;
const SLOW_EVERY_MS = 200;

let addresses = 0;
const newAddress = (): string => {
  addresses += 1;
  return `11.${(addresses >> 16) & 255}.${(addresses >> 8) & 255}.${addresses & 255}`;
};
const pathOf = (i: number): string => paths[i % paths.length] as string;

/** Reads a page to its end and tells how much came. */
const readPage = async (path: string): Promise<string> => {
  const request = get(url + path, { headers: { 'x-api-key': key, 'x-forwarded-for': newAddress() } });
  try {
    const [response] = await once(request, 'response');
    let bytes = 0;
    for await (const chunk of response) bytes += chunk.length;
    return `${response.statusCode} ${bytes}`;
  } catch (error) {
    return `broken off: ${(error as Error).message}`;
  }
};

const keepAsking = async (i: number): Promise<void> => {
  for (;;) process.stdout.write(`${await readPage(pathOf(i))}\n`);
};

/** Comes back with the first bytes, and reads on a little at a time. */
const readSlowly = async (i: number): Promise<void> => {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  socket.on('error', () => {});
  await once(socket, 'connect');
  socket.write(
    `GET ${pathOf(i)} HTTP/1.1\r\nhost: handback\r\nx-api-key: ${key}\r\nx-forwarded-for: ${newAddress()}\r\n\r\n`,
  );
  await once(socket, 'readable');
  const readOn = async () => {
    for (;;) {
      await pause(SLOW_EVERY_MS);
      socket.read(SLOW_BYTES);
    }
  };
  void readOn();
};

await Promise.all(Array.from({ length: slowReaders }, (_, i) => readSlowly(i)));
for (let i = 0; i < callers; i++) void keepAsking(i);
process.stdout.write('under way\n');
