import { appendFileSync, chmodSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import type { Db } from '../../src/db/types.ts';
import type { ApiResponse } from './http.ts';
import { type Env, type Run, type ServerProcess, temporaryFolder } from './process.ts';
import { toolPath } from './tools.ts';
import { measureSlowness, scaled, until } from './until.ts';

// The rows of docs/reliability.md: short in the suites, in full with `npm run faults`, which writes the page from the figures.

export const FULL = process.env['FAULTS'] === 'full';
const FIGURES = process.env['FAULTS_FIGURES'];

/** How much a row does: the first in the suites, the second with `npm run faults`. */
export const effort = <Value>(short: Value, full: Value): Value => (FULL ? full : short);

/** `missed` names a part of the promise that the figures do not keep; the page says so, and `npm run faults` fails. */
export const measured = (row: number, figure: string, missed?: string): void => {
  const line = { row, engine: process.env['ENGINE'], figure, missed };
  if (FIGURES) appendFileSync(FIGURES, `${JSON.stringify(line)}\n`);
};

/**
 * Expects a time that the product promises on a quiet machine, where `npm run faults` judges it. In the suites the machine is taken
 * into account: as it was found when the run began or, where that is not enough, as it is now. The other processes of the run slow
 * the caller, the service and the database one after the other, so twice what a single piece of work shows is allowed.
 */
export const expectWithin = (ms: number, promisedMs: number): void => {
  if (!FULL && ms < scaled(promisedMs)) return;
  expect(ms).toBeLessThan(FULL ? promisedMs : 2 * measureSlowness() * promisedMs);
};

/** Every response comes within this time: docs/guide/limits.md. */
export const ANSWERED_WITHIN_MS = 5_000;

/** A 503 without internal details. */
export const expectUnavailable = (response: ApiResponse): void => {
  expect(response).toFailWith(503, 'SERVICE_UNAVAILABLE');
  expect(JSON.stringify(response.body)).not.toMatch(/ECONN|ENOSPC|timeout|sqlite|postgres|57P|lock/i);
};

/** Errors are logged without personal data. */
export const expectDiscreet = ({ stdout, logs }: ServerProcess): void => {
  expect(logs()).toContainEqual(expect.objectContaining({ msg: 'request', status: 503 }));
  expect(stdout).not.toMatch(/ada@example\.com|Ada Pereira|SO-10042|KETTLE|handback_ext_|whsec_/);
};

/** A refused start: status 1, one line for the operator, no internal details. */
export const refusal = ({ status, stdout, stderr }: Run): string => {
  expect(stderr).toMatch(/^handback: [^\n]+\n$/);
  expect(stderr).not.toMatch(/ at .*:\d+:\d+|node:internal|Error:/);
  expect(status).toBe(1);
  expect(stdout).toBe('');
  return stderr;
};

/** The value that this share of all does not exceed. */
export const percentile = (values: number[], share: number): number =>
  values.toSorted((one, other) => one - other)[Math.ceil(values.length * share) - 1] ?? 0;

/** Every delivery with its client's URL, once each has ended or was tried this often. */
export const triedDeliveries = (db: Db, count: number, attempts: number, withinMs: number) =>
  until(
    'every delivery was tried',
    async () => {
      const all = await db
        .selectFrom('webhook_deliveries')
        .innerJoin('api_clients', 'api_clients.receiver_id', 'webhook_deliveries.receiver_id')
        .select(['webhook_deliveries.receiver_id', 'webhook_url', 'status', 'attempts', 'attempt_log'])
        .execute();
      const tried = all.filter((row) => row.attempts >= attempts || row.status !== 'PENDING');
      return tried.length === count ? tried : null;
    },
    withinMs,
  );

// Other clocks for processes, by Debian's faketime; a test that uses them says needs('faketime').

/** Settings for a process whose clock is wrong by so much, `+2s` for example. */
export const wrongClock = (by: string): Env => ({ LD_PRELOAD: toolPath('faketime'), FAKETIME: by });

/** A clock that a test sets. Durations are measured by another clock. */
export const movableClock = () => {
  const folder = temporaryFolder();
  // PostgreSQL reads it as another user.
  chmodSync(folder, 0o755);
  const file = join(folder, 'clock');
  const write = (offsetMs: number) => {
    writeFileSync(`${file}.new`, `${offsetMs < 0 ? '-' : '+'}${(Math.abs(offsetMs) / 1000).toFixed(3)}s\n`);
    // A process that reads it meanwhile sees the old time or the new one.
    renameSync(`${file}.new`, file);
  };
  write(0);
  return {
    env: {
      LD_PRELOAD: toolPath('faketime'),
      FAKETIME_TIMESTAMP_FILE: file,
      FAKETIME_NO_CACHE: '1',
      FAKETIME_DONT_FAKE_MONOTONIC: '1',
    },
    set: (toMs: number) => write(toMs - Date.now()),
  };
};
export type SetClock = ReturnType<typeof movableClock>;
