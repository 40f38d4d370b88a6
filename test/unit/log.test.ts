import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { boundedDestination } from '../../src/service/log.ts';

/** A disk or a pipe that takes as much as the test says, when the test says. */
const output = () => {
  let text = '';
  let dropped = 0;
  let pending: ((most: number) => void) | null = null;
  const destination = boundedDestination(
    (bytes, done) => {
      pending = (most) => {
        const taken = bytes.subarray(0, most);
        text += taken.toString();
        done(taken.length);
      };
    },
    (lines) => {
      dropped += lines;
    },
  );
  return {
    destination,
    text: () => text,
    dropped: () => dropped,
    async take(most = Number.POSITIVE_INFINITY) {
      await nextTurn();
      const write = pending;
      pending = null;
      write?.(most);
    },
  };
};

describe('log lines', () => {
  it('that come in one turn share a write', async () => {
    const out = output();
    for (const line of ['a\n', 'b\n', 'c\n']) out.destination.write(line);
    expect(out.text()).toBe('');
    await out.take();
    expect(out.text()).toBe('a\nb\nc\n');
  });

  it('that are not taken are counted, and the next begins on a line of its own', async () => {
    const out = output();
    for (const line of ['first\n', 'second\n', 'third\n']) out.destination.write(line);
    await out.take(9);
    out.destination.write('fourth\n');
    await out.take();
    expect(out.text()).toBe('first\nsec\nfourth\n');
    expect(out.dropped()).toBe(2);
  });

  it('that wait are bounded', async () => {
    const out = output();
    const line = `${'x'.repeat(1023)}\n`;
    out.destination.write(line);
    await nextTurn();
    for (let i = 0; i < 5_000; i++) out.destination.write(line);
    expect(out.dropped()).toBe(5_000 - 1024);
    await out.take();
    await out.take();
    expect(out.text()).toHaveLength(1025 * 1024);
  });

  it('are all written when a flush calls back', async () => {
    const out = output();
    let flushed = 0;
    const flush = () => out.destination.flush(() => (flushed += 1));
    flush();
    expect(flushed).toBe(1);
    out.destination.write('a\n');
    flush();
    expect(flushed).toBe(1);
    await out.take();
    expect([flushed, out.text()]).toEqual([2, 'a\n']);
  });
});
