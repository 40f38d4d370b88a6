import { createSocket } from 'node:dgram';
import { fileURLToPath } from 'node:url';
import ipaddr from 'ipaddr.js';
import { onTestFinished } from 'vitest';
import type { Env } from './process.ts';

// A name server on loopback whose answers may change from one question to the next, as an attacker's do.

/** The addresses of a name, at the nth question for that name and type, from 1. */
export type Addresses = (nth: number) => string[];

const TYPES: Record<number, 'ipv4' | 'ipv6'> = { 1: 'ipv4', 28: 'ipv6' };
const HEADER_BYTES = 12;
const NO_SUCH_NAME = 3;

/** The name in a question, and where the question ends. */
const questionIn = (message: Buffer): { name: string; type: number; end: number } => {
  const labels: string[] = [];
  let at = HEADER_BYTES;
  for (let length = message[at] ?? 0; length > 0; length = message[at] ?? 0) {
    labels.push(message.toString('latin1', at + 1, at + 1 + length));
    at += 1 + length;
  }
  return { name: labels.join('.').toLowerCase(), type: message.readUInt16BE(at + 1), end: at + 5 };
};

const answerTo = (message: Buffer, end: number, type: number, found: string[] | null): Buffer => {
  const header = Buffer.alloc(HEADER_BYTES);
  message.copy(header, 0, 0, 2);
  header.writeUInt16BE(0x8180 | (found ? 0 : NO_SUCH_NAME), 2);
  header.writeUInt16BE(1, 4);
  header.writeUInt16BE(found?.length ?? 0, 6);
  const records = (found ?? []).map((address) => {
    const bytes = Buffer.from(ipaddr.parse(address).toByteArray());
    const record = Buffer.alloc(12);
    // The name of the question, and nobody may keep the answer.
    record.writeUInt16BE(0xc00c, 0);
    record.writeUInt16BE(type, 2);
    record.writeUInt16BE(1, 4);
    record.writeUInt32BE(0, 6);
    record.writeUInt16BE(bytes.length, 10);
    return Buffer.concat([record, bytes]);
  });
  return Buffer.concat([header, message.subarray(HEADER_BYTES, end), ...records]);
};

export interface NameServer {
  /** How often each name was asked for, for IPv4 addresses. */
  asked: Map<string, number>;
  /** Settings with which a process asks this server and no other. */
  env: Env;
}

export const startNameServer = async (names: Record<string, Addresses>): Promise<NameServer> => {
  const questions = new Map<string, number>();
  const asked = new Map<string, number>();
  const socket = createSocket('udp4');
  socket.on('message', (message, { address, port }) => {
    const { name, type, end } = questionIn(message);
    const nth = (questions.get(`${type} ${name}`) ?? 0) + 1;
    questions.set(`${type} ${name}`, nth);
    if (TYPES[type] === 'ipv4') asked.set(name, nth);
    const all = names[name]?.(nth);
    const found = all?.filter((each) => ipaddr.parse(each).kind() === TYPES[type]) ?? null;
    socket.send(answerTo(message, end, type, found), port, address);
  });
  await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve));
  onTestFinished(() => void socket.close());
  const preload = fileURLToPath(new URL('preloads/own-name-server.mjs', import.meta.url));
  return {
    asked,
    env: {
      NODE_OPTIONS: `--import ${preload}`,
      TEST_NAME_SERVER: `127.0.0.1:${socket.address().port}`,
    },
  };
};
