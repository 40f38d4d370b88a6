import { once } from 'node:events';
import { expect, it } from 'vitest';
import { toIso, withTimeout } from '../../src/lib/time.ts';
import { randomOf, SEED } from '../support/random.ts';

const late = () => new Error('late');
const LONG_MS = 60_000;

it('withTimeout returns the result or the error of the work', async () => {
  expect(await withTimeout(Promise.resolve(1), LONG_MS, late)).toBe(1);
  await expect(withTimeout(Promise.reject(new Error('broken')), LONG_MS, late)).rejects.toThrow('broken');
});

it('withTimeout fails if the work takes too long', async () => {
  await expect(withTimeout(new Promise(() => {}), 1, late)).rejects.toThrow('late');
});

it('withTimeout accepts a result that arrived while the process was busy', async () => {
  const { port1, port2 } = new MessageChannel();
  const reading = withTimeout(once(port2, 'message'), 5, late);
  // The result is ready immediately, and is read in the next turn of the event loop.
  port1.postMessage('sent');
  const busyUntil = performance.now() + 20;
  while (performance.now() < busyUntil);
  expect(await reading).toEqual(['sent']);
  port1.close();
});

it('toIso writes any time as Date does', () => {
  const edges = [0, 999, 86_399_999, 86_400_000, -1, 1_709_164_800_000, 1_798_761_599_999, 4_102_444_800_000];
  const random = randomOf(SEED);
  const times = Array.from({ length: 5_000 }, () => random.below(4_102_444_800_000));
  for (const ms of [...edges, ...times]) expect(toIso(ms)).toBe(new Date(ms).toISOString());
});
