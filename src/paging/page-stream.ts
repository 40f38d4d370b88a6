import { Readable } from 'node:stream';

/** A reader who takes nothing for this long is cut off: what is held for them costs memory. */
const MAX_SILENCE_MS = 60_000;

/** The reader stopped reading: not our fault. */
export class ReaderGone extends Error {}

interface Pieces {
  /** The next piece, or null after the last. Called only once the reader has taken the piece before. */
  next(): Promise<Buffer | null>;
  /** Called once, when the last piece was taken or the reader is gone. */
  end(): void;
  /** Called with the reason when an answer is broken off after its headers were sent. */
  onBroken(error: unknown): void;
}

/** A stream that holds one piece at most. If a piece fails, the stream is destroyed, so that no cut-off answer looks complete. */
export const streamOf = (
  first: Buffer,
  { next, end, onBroken }: Pieces,
  maxSilenceMs = MAX_SILENCE_MS,
): Readable => {
  let ready: Buffer | null = first;
  const cutOff = () => breakOff(new ReaderGone('the reader takes nothing'));
  let silence = setTimeout(() => cutOff(), maxSilenceMs).unref();
  const stream = new Readable({
    // With any other value Node would read a piece ahead.
    highWaterMark: 0,
    read() {
      clearTimeout(silence);
      void sendNext();
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
  const sendNext = async (): Promise<void> => {
    try {
      const piece = ready ?? (await next());
      ready = null;
      if (stream.destroyed) return;
      silence = setTimeout(cutOff, maxSilenceMs).unref();
      stream.push(piece);
    } catch (error) {
      breakOff(error);
    }
  };
  return stream;
};
