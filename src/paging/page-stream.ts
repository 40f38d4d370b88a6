import { Readable } from 'node:stream';

/** A reader who takes nothing for so long is given up: what is held for them is memory. */
const LONGEST_SILENCE_MS = 60_000;

/** Nobody's fault but the reader's. */
export class ReaderGone extends Error {}

interface Pieces {
  /** The next piece, or null after the last. Asked for only when the reader has taken the one before. */
  next(): Promise<Buffer | null>;
  /** Called once, when the last piece was taken or the reader has gone. */
  end(): void;
  /** Told why an answer was broken off after its head was sent. */
  onBroken(error: unknown): void;
}

/** A stream that holds one piece at most. Where a piece fails it is destroyed, so that no answer looks whole and is not. */
export const streamOf = (
  first: Buffer,
  { next, end, onBroken }: Pieces,
  longestSilenceMs = LONGEST_SILENCE_MS,
): Readable => {
  let ready: Buffer | null = first;
  const giveUp = () => breakOff(new ReaderGone('the reader takes nothing'));
  let silence = setTimeout(() => giveUp(), longestSilenceMs).unref();
  const stream = new Readable({
    // With any other mark Node would ask for a piece ahead.
    highWaterMark: 0,
    read() {
      clearTimeout(silence);
      void give();
    },
    destroy(error, done) {
      clearTimeout(silence);
      end();
      done(error);
    },
  });
  const breakOff = (error: unknown): void => {
    if (stream.destroyed) return;
    onBroken(error);
    stream.destroy(new Error('the answer was broken off'));
  };
  const give = async (): Promise<void> => {
    try {
      const piece = ready ?? (await next());
      ready = null;
      if (stream.destroyed) return;
      silence = setTimeout(giveUp, longestSilenceMs).unref();
      stream.push(piece);
    } catch (error) {
      breakOff(error);
    }
  };
  return stream;
};
