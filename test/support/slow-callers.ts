import { connect, type Socket } from 'node:net';
import { BASE_PATH } from '../../contract/common.ts';

// Callers who hold connections and hardly use them: slow headers, slow bodies, slow reads, a third of them each.

const STEPS_A_SECOND = 50;
const LIST = `${BASE_PATH}/offline-repairs`;

interface SlowCallers {
  /** How many hold a connection now. */
  open(): number;
  /** How many connections they have had, with those that were cut off and begun again. */
  begun(): number;
  stop(): void;
}

/** What each kind begins with, and the byte that it adds every second; those without one read a byte instead. */
const kinds = (key: string, largeFile: string): { head: string; byte: string | null }[] => [
  { head: `GET ${LIST} HTTP/1.1\r\nhost: test\r\nx-slow: `, byte: 'x' },
  {
    head: `POST ${LIST} HTTP/1.1\r\nhost: test\r\nx-api-key: ${key}\r\ncontent-type: application/json\r\ncontent-length: 9999\r\n\r\n`,
    byte: ' ',
  },
  { head: `GET ${largeFile} HTTP/1.1\r\nhost: test\r\n\r\n`.repeat(10), byte: null },
];

/** So many callers, each of whom begins again when they are cut off. They come from addresses of their own. */
export const startSlowCallers = (
  port: number,
  count: number,
  { key, largeFile }: { key: string; largeFile: string },
): SlowCallers => {
  const all = kinds(key, largeFile);
  const sockets = new Map<Socket, string | null>();
  let begun = 0;
  let waiting = 0;
  let stopped = false;
  const begin = (i: number): void => {
    const { head, byte } = all[i % all.length] as (typeof all)[number];
    const from = `172.${16 + (begun >> 16)}.${(begun >> 8) & 255}.${begun & 255}`;
    begun += 1;
    const socket = connect(port, '127.0.0.1', () => {
      sockets.set(socket, byte);
      socket.write(head.replaceAll('host: test\r\n', `host: test\r\nx-forwarded-for: ${from}\r\n`));
    });
    if (byte === null) socket.on('readable', () => {});
    else socket.resume();
    socket
      .on('error', () => {})
      .once('end', () => socket.destroy())
      .once('close', () => {
        sockets.delete(socket);
        if (!stopped) begin(i);
      });
  };
  // Each does something once a second, and not all at the same moment: that would be a thousand quick callers.
  let nth = 0;
  const some = Math.ceil(count / STEPS_A_SECOND);
  const timer = setInterval(() => {
    for (const end = Math.min(count, waiting + some); waiting < end; waiting += 1) begin(waiting);
    const all = [...sockets];
    for (let i = 0; i < Math.min(some, all.length); i += 1) {
      nth += 1;
      const [socket, byte] = all[nth % all.length] as (typeof all)[number];
      if (byte === null) socket.read(1);
      else socket.write(byte);
    }
  }, 1_000 / STEPS_A_SECOND);
  return {
    open: () => sockets.size,
    begun: () => begun,
    stop() {
      stopped = true;
      clearInterval(timer);
      for (const socket of sockets.keys()) socket.destroy();
    },
  };
};
