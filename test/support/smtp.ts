import { type AddressInfo, createServer, type Socket } from 'node:net';
import { SMTPServer } from 'smtp-server';
import { onTestFinished } from 'vitest';
import { untilHolds } from './until.ts';

// Mail servers until the test ends: one that accepts mails and one that never responses.

interface Received {
  from: string;
  to: string[];
  /** The whole message, with the encoding of long lines undone. */
  text: string;
}

const FROM = 'returns@shop.example';
/** The settings MAIL_FROM and SMTP_URL. */
const envFor = (port: number) => ({
  SMTP_URL: `smtp://127.0.0.1:${port}`,
  MAIL_FROM: `Returns <${FROM}>`,
});
const decoded = (raw: string): string =>
  raw
    .replaceAll('=\r\n', '')
    .replaceAll(/=([0-9A-F]{2})/g, (_, hex) => String.fromCharCode(Number(`0x${hex}`)));

/** With a password, only those who sign in with it send mails. */
export const mailServer = async ({ offersTls = false, password = null as string | null } = {}) => {
  const mails = {
    env: envFor(0),
    received: [] as Received[],
    attempts: 0,
    /** The next responses: a status, or null to accept the mail. */
    responses: [] as (number | null)[],
    /** The mail of this number, from 1. */
    got: async (number: number) => {
      const received = await untilHolds(
        `mail ${number} arrives`,
        () => mails.received,
        ({ length }) => length >= number,
      );
      return received[number - 1] as Received;
    },
    /** Mails to these addresses wait for `letGo`. */
    holds: (_address: string): boolean => false,
    letGo: () => {
      mails.holds = () => false;
      for (const response of held.splice(0)) response();
    },
  };
  const held: (() => void)[] = [];
  const server = new SMTPServer({
    authOptional: password === null,
    allowInsecureAuth: true,
    disabledCommands: [...(offersTls ? [] : ['STARTTLS']), ...(password === null ? ['AUTH'] : [])],
    onAuth: ({ username, password: given }, _session, done) =>
      given === password
        ? done(null, { user: username })
        : done(Object.assign(new Error(`${given} is wrong`), { responseCode: 535 })),
    onRcptTo({ address }, _session, done) {
      mails.attempts += 1;
      const status = mails.responses.shift() ?? null;
      if (mails.holds(address)) {
        held.push(() => done(null));
        return;
      }
      // The words of a real server, which repeat the address.
      done(status ? Object.assign(new Error(`<${address}> not today`), { responseCode: status }) : null);
    },
    onData(stream, { envelope }, done) {
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('end', () => {
        const from = envelope.mailFrom ? envelope.mailFrom.address : '';
        const to = envelope.rcptTo.map(({ address }) => address);
        mails.received.push({ from, to, text: decoded(Buffer.concat(chunks).toString()) });
        done();
      });
    },
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  onTestFinished(() => new Promise<void>((closed) => server.close(() => closed())));
  mails.env = envFor((server.server.address() as AddressInfo).port);
  return mails;
};
export type MailServer = Awaited<ReturnType<typeof mailServer>>;

/** Accepts connections and never responds. */
export const silentMailServer = async () => {
  const connections = new Set<Socket>();
  const server = createServer((socket) => {
    connections.add(socket);
    socket.on('error', () => {});
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  onTestFinished(async () => {
    for (const socket of connections) socket.destroy();
    server.close();
  });
  return { env: envFor((server.address() as AddressInfo).port), connections };
};

export const tokenIn = (text: string): string => /\/admin\/link#([0-9a-f]{64})/.exec(text)?.[1] ?? '';
