import { type Readable, Writable } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Logger } from 'pino';
import { describe, expect, it, vi } from 'vitest';
import { CHUNK_BYTES, PageResponses } from '../../src/paging/page-response.ts';
import { until } from '../support/until.ts';

interface Row {
  id: string;
  n: number;
  text: string;
}

/** A list of rows of these lengths, which records the reads. */
const listOf = (lengths: number[]) => {
  const rows = lengths.map((length, n) => ({ id: `row ${n}`, n, text: 'x'.repeat(length) }));
  const reads: number[][] = [];
  const log = { error: vi.fn() };
  const pages = new PageResponses({ log: log as unknown as Logger });
  const source = {
    name: 'rows',
    view: (row: Row) => row,
    keyOf: ({ n }: Row) => n,
    async readRows(numbers: number[]) {
      reads.push(numbers);
      return rows.filter(({ n }) => numbers.includes(n)).toReversed();
    },
  };
  const page = { page: 1, limit: rows.length };
  return {
    ...{ rows, reads, log, pages, source },
    build: (found: { rows: Row[]; keys: number[] }) =>
      pages.build('shop', source, { ...found, total: rows.length }, page),
    whole: JSON.stringify({ items: rows, total: rows.length, ...page, totalPages: 1 }),
  };
};
const byKeys = (rows: Row[]) => ({ rows: [], keys: rows.map(({ n }) => n) });
const textOf = async (body: string | Readable): Promise<string> => {
  if (typeof body === 'string') return body;
  const chunks: Buffer[] = [];
  for await (const chunk of body) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
};

describe('a page', () => {
  it('of short rows is one response, from few reads', async () => {
    const { build, rows, reads, whole } = listOf(Array(100).fill(100));
    expect((await build({ rows, keys: [] })).body).toBe(whole);
    expect(reads).toEqual([]);
    expect((await build(byKeys(rows))).body).toBe(whole);
    expect(reads.map((numbers) => numbers.length)).toEqual([5, 95]);
  });

  it.each([
    ['long', Array(30).fill(CHUNK_BYTES)],
    ['half a chunk', Array(30).fill(CHUNK_BYTES / 2)],
    ['short, then long', [...Array(40).fill(10), ...Array(20).fill(CHUNK_BYTES)]],
    ['long, then short', [...Array(20).fill(CHUNK_BYTES), ...Array(40).fill(10)]],
  ])('of rows that are %s is streamed, and few rows are read twice', async (_, lengths) => {
    const { build, rows, reads, whole } = listOf(lengths);
    for (const found of [byKeys(rows), { rows, keys: [] }]) {
      reads.length = 0;
      const { body } = await build(found);
      expect(typeof body).toBe('object');
      expect(await textOf(body)).toBe(whole);
      expect(reads.flat().length).toBeLessThan(1.7 * rows.length + 20);
    }
  });
});

it('the stream of a page reads at most one chunk ahead of its reader', async () => {
  const { build, rows, reads } = listOf(Array(20).fill(CHUNK_BYTES));
  let takeNext: (() => void) | undefined;
  const reader = new Writable({
    highWaterMark: 1,
    write(_chunk, _encoding, done) {
      takeNext = done;
    },
  });
  const { body } = await build(byKeys(rows));
  (body as Readable).pipe(reader);
  for (let taken = 1; taken <= 5; taken += 1) {
    await until('a chunk has come', () => takeNext !== undefined);
    for (let turn = 0; turn < 10; turn += 1) await nextTurn();
    expect(reads.length).toBeLessThanOrEqual(taken + 2);
    takeNext?.();
    takeNext = undefined;
  }
});

describe('large responses', () => {
  it('are limited to a hundred for a shop, and four hundred in total', () => {
    const { pages } = listOf([]);
    const refused = expect.objectContaining({ code: 'SERVICE_UNAVAILABLE' });
    const held = Array.from({ length: 400 }, (_, i) => pages.begin(`shop ${i % 4}`));
    expect(() => pages.begin('another')).toThrow(refused);
    for (let i = 1; i < 400; i += 4) held[i]?.();
    expect(() => pages.begin('shop 0')).toThrow(refused);
    pages.begin('shop 1');
    pages.begin('another');
  });

  it('are read two chunks at a time, and a failing one does not delay others', async () => {
    const { pages } = listOf([]);
    const ends: PromiseWithResolvers<string>[] = [];
    const results = [1, 2, 3, 4].map(() =>
      pages.inSlot(() => {
        const end = Promise.withResolvers<string>();
        ends.push(end);
        return end.promise;
      }),
    );
    await until('two have begun', () => ends.length === 2);
    ends[0]?.reject(new Error('lost'));
    await expect(results[0]).rejects.toThrow('lost');
    await until('the third has begun', () => ends.length === 3);
    for (const end of ends.slice(1)) end.resolve('read');
    await until('the fourth has begun', () => ends.length === 4);
    ends[3]?.resolve('read');
    expect(await Promise.all(results.slice(1))).toEqual(['read', 'read', 'read']);
  });
});
