import { connect, type Socket } from 'node:net';
import { parentPort, workerData } from 'node:worker_threads';

// Callers that ask for one file: some never read it, some read it again and again. In a thread of its own, so that they do not
// hold up whoever measures. Says how many files were read when it is told to end.

const { port, path, silent, looping, addresses } = workerData as {
  port: number;
  path: string;
  silent: number;
  looping: number;
  /** Callers take turns with so many addresses. */
  addresses: number;
};

let asked = 0;
let read = 0;
const sockets = new Set<Socket>();

const ask = (): Socket => {
  asked += 1;
  const ip = `198.18.${(asked % addresses) >> 8}.${(asked % addresses) & 255}`;
  const socket = connect(port, '127.0.0.1').on('error', () => {});
  sockets.add(socket);
  socket.once('close', () => sockets.delete(socket));
  socket.write(`GET ${path} HTTP/1.1\r\nhost: test\r\nconnection: close\r\nx-forwarded-for: ${ip}\r\n\r\n`);
  return socket;
};

const readAgain = (): void => {
  const socket = ask();
  socket.once('data', (first: Buffer) => {
    if (first.includes('HTTP/1.1 200')) socket.once('end', () => (read += 1));
    socket.resume();
  });
  socket.once('close', readAgain);
};

for (let i = 0; i < silent; i++) ask().pause();
for (let i = 0; i < looping; i++) readAgain();

parentPort?.once('message', () => {
  parentPort?.postMessage(read);
  parentPort?.close();
  for (const socket of sockets) socket.removeAllListeners('close').destroy();
});
