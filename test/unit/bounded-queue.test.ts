import { expect, it } from 'vitest';
import { BoundedQueue } from '../../src/lib/bounded-queue.ts';

const limits = { atOnce: 1, waiting: 2, withinMs: 60_000, refusal: () => new Error('refused') };

it('slots are given in order, up to the limit', async () => {
  const queue = new BoundedQueue({ ...limits, atOnce: 2, waiting: 10 });
  const order: number[] = [];
  let running = 0;
  let most = 0;
  await Promise.all(
    [0, 1, 2, 3, 4, 5].map((i) =>
      queue.run(async () => {
        running += 1;
        most = Math.max(most, running);
        order.push(i);
        await Promise.resolve();
        running -= 1;
      }),
    ),
  );
  expect(order).toEqual([0, 1, 2, 3, 4, 5]);
  expect(most).toBe(2);
});

it('slots are refused immediately if too many wait, and go to the next one after a failure', async () => {
  const queue = new BoundedQueue(limits);
  const release = await queue.take();
  const [second, third] = [
    queue.run(() => Promise.reject(new Error('its own'))),
    queue.run(async () => 'third'),
  ];
  await expect(queue.take()).rejects.toThrow('refused');
  release();
  // A slot is released once, however often this is called.
  release();
  await expect(second).rejects.toThrow('its own');
  expect(await third).toBe('third');
  expect(await queue.run(async () => 'free again')).toBe('free again');
});

it('slots are refused after too long a wait, and stay available to others', async () => {
  const queue = new BoundedQueue({ ...limits, withinMs: 10 });
  const release = await queue.take();
  await expect(queue.take()).rejects.toThrow('refused');
  release();
  expect(await queue.run(async () => 'free again')).toBe('free again');
});
