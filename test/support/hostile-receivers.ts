import type { Socket } from 'node:net';
import { gzipSync } from 'node:zlib';

// Receivers that mean harm, each with what must become of an attempt at it.

const MEGABYTE = 1024 ** 2;

export interface Hostile {
  behave(socket: Socket): void;
  /** Begins with the connection, not with the first bytes of the request. */
  atConnection?: true;
  /** The status that is noted; where it is a 2xx, it counts whatever follows it (docs/contract.md). */
  status?: number;
  /** Words for an attempt without a status. */
  error?: RegExp;
}

const piece = (text: string): Buffer => Buffer.from(text.repeat(Math.ceil((64 * 1024) / text.length)));
const CHUNKED = 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n';

/** A byte a second, from a text that comes again and again. */
const drip = (head: string, text: string): Hostile => ({
  behave(socket) {
    socket.write(head);
    let sent = 0;
    const timer = setInterval(() => {
      socket.write(text[sent % text.length] as string);
      sent += 1;
    }, 1_000);
    socket.once('close', () => clearInterval(timer));
  },
  error: /within 10 s/,
});
/** After the head it says the same again and again, as fast as the other side reads. */
const endless = (head: string, rest: string, result: Pick<Hostile, 'status' | 'error'>): Hostile => ({
  behave(socket) {
    const more = piece(rest);
    const flood = () => {
      while (!socket.destroyed && socket.write(more));
    };
    socket.write(head);
    socket.on('drain', flood);
    flood();
  },
  ...result,
});
const gigabyte = (status: number): Hostile =>
  endless(`HTTP/1.1 ${status} X\r\ncontent-length: ${1024 * MEGABYTE}\r\n\r\n`, 'x', { status });
const says = (text: string | Buffer, result: Pick<Hostile, 'status' | 'error'>): Hostile => ({
  behave: (socket) => void socket.end(text),
  ...result,
});
/** Says this much and breaks off with a reset, once it has gone out. */
const resets = (text: string): Hostile => ({
  behave(socket) {
    if (text === '') socket.resetAndDestroy();
    else socket.write(text, () => setImmediate(() => socket.resetAndDestroy()));
  },
  error: /connection closed/,
});

/** Unpacks to a gigabyte; packed it is below what is read of a response only in part, so part of it comes as a whole body too. */
const bomb = (bytes: number): Buffer => gzipSync(Buffer.alloc(bytes), { level: 9 });
const gzipped = (status: number, packed: Buffer): Hostile => {
  const head = `HTTP/1.1 ${status} X\r\ncontent-encoding: gzip\r\ncontent-length: ${packed.length}\r\n\r\n`;
  return says(Buffer.concat([Buffer.from(head), packed]), { status });
};

const TOO_LONG = { error: /64 KiB|too long/ };
const NOT_HTTP = { error: /not valid HTTP/ };
const TAKEN = { status: 200 };

export const HOSTILE: Record<string, Hostile> = {
  'never answers': { behave: () => {}, error: /within 10 s/ },
  'drips its status line': drip('', 'HTTP/1.1 200 OK '),
  'drips its headers': drip('HTTP/1.1 200 OK\r\n', 'x-a: b\r\n'),
  'drips its body': drip('HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\n', 'x'),
  'drips its chunks': drip(CHUNKED, '1\r\nx\r\n'),

  '1 GB with a 500': gigabyte(500),
  '1 GB with a 200': gigabyte(200),
  'a gzip bomb with a 500': gzipped(500, bomb(60 * MEGABYTE)),
  'a gzip bomb with a 200': gzipped(200, bomb(60 * MEGABYTE)),
  'a gzip bomb of 1 GB': gzipped(500, Buffer.concat(Array(20).fill(bomb(50 * MEGABYTE)))),

  '100,000 headers': says(`HTTP/1.1 200 OK\r\n${'x-a: b\r\n'.repeat(100_000)}\r\n`, TOO_LONG),
  'one header without end': endless('HTTP/1.1 200 OK\r\nx-a: ', 'b', TOO_LONG),
  'headers without end': endless('HTTP/1.1 200 OK\r\n', 'x-a: b\r\n', TOO_LONG),
  'a status line without end': endless('HTTP/1.1 200 ', 'OK', TOO_LONG),
  'line breaks before the response': endless('\r\n', '\r\n', TOO_LONG),
  'a flood of 100': endless('', 'HTTP/1.1 100 Continue\r\n\r\n', {
    error: /64 KiB|too long|valid HTTP|connection closed/,
  }),
  'a flood of 102': endless('', 'HTTP/1.1 102 Processing\r\n\r\n', TOO_LONG),
  'a flood of 103': endless('', `HTTP/1.1 103 Early Hints\r\nlink: ${'x'.repeat(900)}\r\n\r\n`, TOO_LONG),
  'a chunk extension without end': endless(`${CHUNKED}5;`, 'a=b;', TAKEN),
  'chunks without end': endless(CHUNKED, '1\r\nx\r\n', TAKEN),
  'trailers without end': endless(`${CHUNKED}0\r\n`, 'x-a: b\r\n', TAKEN),
  'a body without end': endless('HTTP/1.1 200 OK\r\n\r\n', 'x', TAKEN),

  'chunks of no size': says(`${CHUNKED}what\r\nx\r\n0\r\n\r\n`, NOT_HTTP),
  'a chunk of a negative size': says(`${CHUNKED}-5\r\nxxxxx\r\n0\r\n\r\n`, NOT_HTTP),
  'a chunk of too large a size': says(`${CHUNKED}ffffffffffffffffff\r\nx`, NOT_HTTP),
  'a chunk longer than it says': says(`${CHUNKED}1\r\nxxxxxxxx\r\n0\r\n\r\n`, NOT_HTTP),
  'chunks that stop': says(`${CHUNKED}5\r\nxx`, { error: /connection closed|valid HTTP/ }),
  'two lengths': says('HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nxx', NOT_HTTP),
  'a negative length': says('HTTP/1.1 200 OK\r\ncontent-length: -1\r\n\r\nx', NOT_HTTP),
  'a length and chunks': says(
    'HTTP/1.1 200 OK\r\ncontent-length: 3\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n',
    { error: /valid HTTP|connection closed/ },
  ),
  'a shorter body than it says': says('HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nx', {
    error: /connection closed|valid HTTP/,
  }),
  'a header with NUL': says('HTTP/1.1 200 OK\r\nx-a: \0\r\ncontent-length: 0\r\n\r\n', NOT_HTTP),
  'an invalid status': says('HTTP/1.1 9999 What\r\n\r\n', NOT_HTTP),
  'a switch of protocols': says(
    'HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\nx',
    {
      error: /\S/,
    },
  ),
  'a response as of HTTP/0.9': says('<html>welcome</html>\r\n', NOT_HTTP),
  'another protocol': says('220 mail.example ESMTP\r\n', NOT_HTTP),
  'a response of HTTP/2': says(Buffer.from('00001204000000000000', 'hex'), {
    error: /valid HTTP|connection closed/,
  }),
  'random bytes': says(Buffer.from([...Array(2_000).keys()].map((n) => (n * 167 + 13) % 256)), NOT_HTTP),

  'resets at the connection': { ...resets(''), atConnection: true },
  'resets after the request': resets(''),
  'resets in the status line': resets('HTTP/1.1 20'),
  'resets in the headers': resets('HTTP/1.1 200 OK\r\nx-a: '),
  'resets in the body': resets('HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nx'),
  'resets in a chunk': resets(`${CHUNKED}9\r\nx`),
  'closes without a word': { behave: (socket) => void socket.end(), error: /connection closed/ },
  'a redirect to itself': says(
    'HTTP/1.1 302 Found\r\nlocation: /\r\ncontent-length: 0\r\nconnection: close\r\n\r\n',
    {
      status: 302,
    },
  ),
};
