import { expect, it } from 'vitest';
import { HeavyLists } from '../../src/paging/heavy-lists.ts';

it('a shop runs one heavy list at a time, whatever its result, and other shops do not wait for it', async () => {
  const lists = new HeavyLists();
  const started: string[] = [];
  const blocked = (name: string) => {
    const { promise, resolve, reject } = Promise.withResolvers<string>();
    const work = async () => {
      started.push(name);
      return promise;
    };
    return { work, end: () => resolve(name), fail: () => reject(new Error(name)) };
  };
  const [first, second, third, other] = ['first', 'second', 'third', 'other'].map(blocked) as [
    ReturnType<typeof blocked>,
    ReturnType<typeof blocked>,
    ReturnType<typeof blocked>,
    ReturnType<typeof blocked>,
  ];
  const results = [first, second, third].map(({ work }) => lists.run('a shop', work));
  const ofOther = lists.run('another shop', other.work);
  await Promise.resolve();
  expect(started.toSorted()).toEqual(['first', 'other']);
  other.end();
  expect(await ofOther).toBe('other');
  first.fail();
  await expect(results[0]).rejects.toThrow('first');
  second.end();
  expect(await results[1]).toBe('second');
  third.end();
  expect(await results[2]).toBe('third');
  expect(started).toEqual(['first', 'other', 'second', 'third']);
});

it('at most fifty lists of a shop are queued', async () => {
  const lists = new HeavyLists();
  const { promise, resolve } = Promise.withResolvers<void>();
  const waiting = Array.from({ length: 51 }, () => lists.run('a shop', () => promise));
  await expect(lists.run('a shop', () => promise)).rejects.toThrow('too many lists of one shop');
  resolve();
  await Promise.all(waiting);
});
