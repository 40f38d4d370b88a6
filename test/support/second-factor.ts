import { expect } from 'vitest';
import { codeAt, timeStepAt } from '../../src/staff/second-factor.ts';
import type { AdminCaller } from './admin.ts';
import type { Harness } from './harness.ts';

// A person's authenticator app.

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';
const bytesOf = (secret: string): Buffer => {
  const bits = [...secret].map((letter) => ALPHABET.indexOf(letter).toString(2).padStart(5, '0')).join('');
  return Buffer.from((bits.match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2)));
};

/** What the app shows for a secret, so many steps of 30 seconds ahead. */
export const appCode = (secret: string, nowMs: number, ahead = 0): string =>
  codeAt(bytesOf(secret), timeStepAt(nowMs) + ahead);

/** Begins to set one up, and scans the secret. */
export const factorOf = async (t: Pick<Harness, 'ctx'>, person: AdminCaller) => {
  const response = await person.post('/session/second-factor');
  expect(response).toHaveStatus(201);
  const { secret, uri } = response.body as { secret: string; uri: string };
  return { secret, uri, code: (ahead = 0) => appCode(secret, t.ctx.clock.now(), ahead) };
};

/** Turns it on. The app's present code is used up by that. */
export const turnOn = async (t: Pick<Harness, 'ctx'>, person: AdminCaller) => {
  const factor = await factorOf(t, person);
  const response = await person.post('/session/second-factor/confirm', { code: factor.code() });
  expect(response).toHaveStatus(200);
  return { ...factor, recoveryCodes: response.body.recoveryCodes as string[] };
};
