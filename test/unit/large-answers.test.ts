import { Writable } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it, vi } from 'vitest';
import { ReaderGone, streamOf } from '../../src/paging/page-stream.ts';
import { SLICE_BYTES, slicesOf } from '../../src/paging/row-size.ts';
import { fairTurns } from '../../src/paging/turns.ts';
import { until } from '../support/until.ts';

const row = (id: number, bytes: number) => ({ id, bytes });
const keyOf = ({ id }: { id: number }) => id;
const half = SLICE_BYTES / 2;

describe('a page is cut', () => {
  it('so that no slice is larger than it may be, unless it is one row', () => {
    const rows = [half, half, 1, half, 3 * half, half, half - 1].map((bytes, id) => row(id, bytes));
    expect(slicesOf(rows, 100, keyOf).map(({ keys }) => keys)).toEqual([[0, 1], [2, 3], [4], [5, 6]]);
  });

  it('so that only the first slice keeps rows, and only those that came with their texts', () => {
    const longest = Math.floor(SLICE_BYTES / 100);
    const rows = [longest, longest + 1, SLICE_BYTES, 1].map((bytes, id) => row(id, bytes));
    expect(slicesOf(rows, 100, keyOf)).toEqual([
      { keys: [0, 1], whole: [rows[0]], missing: [1] },
      { keys: [2], whole: [], missing: [2] },
      { keys: [3], whole: [], missing: [3] },
    ]);
  });
});

/** Work that ends when it is told to, and remembers in which order it began. */
const stagedWork = () => {
  const begun: string[] = [];
  const ends: (() => void)[] = [];
  return {
    begun,
    named: (name: string) => () => {
      begun.push(name);
      return new Promise<string>((resolve) => ends.push(() => resolve(name)));
    },
    endNext: () => ends.shift()?.(),
  };
};

describe('slices of large answers', () => {
  it('are made one at a time, shop by shop in turn', async () => {
    const begin = fairTurns({ requestsUnderWay: () => 0, requestsBegun: () => 0 });
    const { begun, named, endNext } = stagedWork();
    const names = ['x', 'a1', 'a2', 'a3', 'b1', 'b2', 'c1'];
    const results = names.map((name) => begin(name.charAt(0)).slice(named(name)));
    for (let count = 1; count <= names.length; count += 1) {
      await until(`${count} have begun`, () => begun.length === count);
      endNext();
    }
    expect(begun).toEqual(['x', 'a1', 'b1', 'c1', 'a2', 'b2', 'a3']);
    expect(await Promise.all(results)).toEqual(names);
  });

  it('fail alone', async () => {
    const answer = fairTurns({ requestsUnderWay: () => 1, requestsBegun: () => 0 })('a');
    await expect(answer.slice(() => Promise.reject(new Error('lost')))).rejects.toThrow('lost');
    expect(await answer.slice(async () => 'next')).toBe('next');
  });

  it('that waited too long are refused, the first one after three and a half seconds', async () => {
    const { begun, named, endNext } = stagedWork();
    const begin = fairTurns({ requestsUnderWay: () => 0, requestsBegun: () => 0 });
    const [one, two, three] = [begin('a'), begin('a'), begin('b')];
    await two.slice(async () => {});
    const first = one.slice(named('first'));
    const late = three.slice(named('late'));
    const later = two.slice(named('later'));
    await until('the first has begun', () => begun.length === 1);
    const now = performance.now();
    vi.spyOn(performance, 'now').mockReturnValue(now + 6_000);
    endNext();
    await expect(late).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
    await until('the later slice has begun', () => begun.includes('later'));
    endNext();
    expect(await Promise.all([first, later])).toEqual(['first', 'later']);
    vi.restoreAllMocks();
  });

  it('are of a hundred answers of a shop at most, and of four hundred in all', () => {
    const begin = fairTurns({ requestsUnderWay: () => 0, requestsBegun: () => 0 });
    const held = Array.from({ length: 400 }, (_, i) => begin(`shop ${i % 4}`));
    expect(() => begin('another')).toThrow(expect.objectContaining({ code: 'SERVICE_UNAVAILABLE' }));
    for (let i = 1; i < 400; i += 4) held[i]?.end();
    expect(() => begin('shop 0')).toThrow(expect.objectContaining({ code: 'SERVICE_UNAVAILABLE' }));
    begin('shop 1');
    begin('another');
  });
});

/** Pieces with a count of how many were asked for. */
const countedPieces = (last: number) => {
  const seen = { asked: 0, ended: 0, broken: [] as unknown[] };
  return {
    seen,
    pieces: {
      async next() {
        seen.asked += 1;
        return seen.asked > last ? null : Buffer.from(`${seen.asked}`);
      },
      end() {
        seen.ended += 1;
      },
      onBroken: (error: unknown) => void seen.broken.push(error),
    },
  };
};

describe('a stream of pieces', () => {
  it('asks for a piece only when the one before was taken', async () => {
    const { seen, pieces } = countedPieces(3);
    const taken: string[] = [];
    let takeNext: (() => void) | undefined;
    const reader = new Writable({
      highWaterMark: 1,
      write(chunk, _encoding, done) {
        taken.push(String(chunk));
        takeNext = done;
      },
    });
    streamOf(Buffer.from('0'), pieces).pipe(reader);
    for (let count = 1; count <= 4; count += 1) {
      await until(`${count} pieces have come`, () => taken.length === count);
      for (let turn = 0; turn < 5; turn += 1) await nextTurn();
      expect(seen.asked).toBe(count - 1);
      takeNext?.();
    }
    await until('the stream has ended', () => seen.ended === 1);
    expect(taken).toEqual(['0', '1', '2', '3']);
    expect(seen.broken).toEqual([]);
  });

  it('gives up a reader who takes nothing, and says so once', async () => {
    const { seen, pieces } = countedPieces(3);
    const stream = streamOf(Buffer.from('0'), pieces, 10);
    const failed = new Promise((resolve) => stream.once('error', resolve));
    stream.pipe(new Writable({ highWaterMark: 1, write() {} }));
    expect(await failed).toEqual(new Error('the answer was broken off'));
    expect(seen).toMatchObject({ asked: 0, ended: 1, broken: [expect.any(ReaderGone)] });
  });

  it('ends once where the reader leaves', async () => {
    const { seen, pieces } = countedPieces(3);
    const stream = streamOf(Buffer.from('0'), pieces);
    stream.destroy();
    await until('it has ended', () => seen.ended === 1);
    expect(seen).toMatchObject({ asked: 0, broken: [] });
  });
});
