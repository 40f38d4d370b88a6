import { expect } from 'vitest';
import { runHere } from './commands-here.ts';
import { type Env, migratedDatabase } from './process.ts';
import { addRepairs, makeShop } from './shops.ts';

interface Checked {
  check: string;
  state: 'ok' | 'warn' | 'wrong';
  message: string;
}

export const doctor = async (env: Env, runs: typeof runHere = runHere): Promise<Record<string, Checked>> => {
  const result = await runs(['doctor', '--json'], env);
  expect(result.stderr).toBe('');
  const { ok, checks } = result.json as { ok: boolean; checks: Checked[] };
  expect(ok).toBe(checks.every(({ state }) => state !== 'wrong'));
  expect(result.status).toBe(ok ? 0 : 1);
  return Object.fromEntries(checks.map((checked) => [checked.check, checked]));
};

export const statesOf = (found: Record<string, Checked>) =>
  Object.fromEntries(Object.entries(found).map(([check, { state }]) => [check, state]));

export const filled = async (): Promise<Env & { shopId: string }> => {
  const env = await migratedDatabase();
  const { shopId, key } = await makeShop(env);
  await addRepairs(env, key, 3);
  return { ...env, shopId };
};
