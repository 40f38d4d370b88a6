import { expect, it } from 'vitest';
import { eraseAll, personFrom } from '../../admin/src/personal-data/erasing.ts';
import type { Erasure } from '../../contract/personal-data.ts';

const response = (erased: number, more: Partial<Erasure> = {}): Erasure => ({
  dryRun: false,
  matched: erased,
  erased,
  returns: Array.from({ length: erased }, (_, i) => ({ id: `id-${i}`, rmaNumber: `#RMA-${i}` })),
  refused: [],
  remaining: 0,
  views: 0,
  ...more,
});
const OPEN = { id: 'id-9', rmaNumber: '#RMA-9', reason: 'OPEN' } as const;

/** A service that responds, or refuses, in this order. */
const serviceOf = (...responses: (Erasure | Error)[]) => {
  const calls = { count: 0 };
  const call = async (): Promise<Erasure> => {
    const next = responses[calls.count];
    calls.count += 1;
    if (!next) throw new Error('asked too often');
    if (next instanceof Error) throw next;
    return next;
  };
  return { call, calls };
};

/** In the form of the app's own error. */
const refusal = (code: string) =>
  Object.assign(new Error('No return was erased.'), { body: { code, refused: [OPEN] } });

const never = new AbortController().signal;

it('erases until none is left', async () => {
  const { call, calls } = serviceOf(response(3, { remaining: 2 }), response(2, { refused: [OPEN] }));
  const seen: number[] = [];
  const report = await eraseAll(call, (erased) => seen.push(erased), never);
  expect(seen).toEqual([3, 5]);
  expect(calls.count).toBe(2);
  expect(report).toMatchObject({ refused: [OPEN], remaining: 0 });
  expect(report.erased).toHaveLength(5);
});

it('stops between two calls, and says how many remain', async () => {
  const { call, calls } = serviceOf(response(3, { remaining: 2 }), response(2));
  const stopping = new AbortController();
  const report = await eraseAll(call, () => stopping.abort(), stopping.signal);
  expect(calls.count).toBe(1);
  expect(report.remaining).toBe(2);
});

it('stops if nothing more is erased', async () => {
  const { call, calls } = serviceOf(response(0, { remaining: 2 }));
  expect((await eraseAll(call, () => {}, never)).remaining).toBe(2);
  expect(calls.count).toBe(1);
});

it('reports refused returns, and throws other errors', async () => {
  const refused = serviceOf(response(3, { remaining: 1 }), refusal('ERASE_REFUSED'));
  const report = await eraseAll(refused.call, () => {}, never);
  expect(report.refused).toEqual([OPEN]);
  expect(report.erased).toHaveLength(3);
  await expect(eraseAll(serviceOf(refusal('RATE_LIMITED')).call, () => {}, never)).rejects.toThrow();
});

it('treats a text with an @ as an email', () => {
  expect(personFrom('ada@example.com')).toEqual({ email: 'ada@example.com' });
  expect(personFrom('+44 20 7946 0018')).toEqual({ phone: '+44 20 7946 0018' });
});
