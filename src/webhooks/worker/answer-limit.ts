import type { Socket } from 'node:net';
import type { buildConnector } from 'undici';
import { ANSWER_LIMIT_BYTES, ANSWER_LIMIT_LINES } from '../policy.ts';

/** The receiver's answer was longer than we read. */
export class AnswerTooLong extends Error {}

const LINE_BREAK = 0x0a;

/** How many bytes of a piece may be read when so many bytes and lines are left. */
const lengthWithin = (piece: Buffer, bytes: number, lines: number): { length: number; lines: number } => {
  let found = 0;
  let end = -1;
  while (found < lines) {
    end = piece.indexOf(LINE_BREAK, end + 1);
    if (end === -1 || end >= bytes) return { length: Math.min(bytes, piece.length), lines: found };
    found += 1;
  }
  return { length: end + 1, lines: found };
};

/**
 * Breaks off a connection when one exchange has brought in more than the limits, in whatever part of the answer: the parser
 * bounds only some of them, and needs far more memory for a short line than the line is long. What is beyond a limit is kept
 * from it. An exchange begins with a write, so what came before the last write is not counted.
 */
const limitAnswers = (socket: Socket): void => {
  const read = socket.read.bind(socket);
  let written = 0;
  let bytesLeft = ANSWER_LIMIT_BYTES;
  let linesLeft = ANSWER_LIMIT_LINES;
  let isOver = false;
  socket.read = (size?: number) => {
    const piece: Buffer | null = isOver ? null : read(size);
    if (piece === null) return null;
    if (socket.bytesWritten !== written) {
      written = socket.bytesWritten;
      bytesLeft = ANSWER_LIMIT_BYTES;
      linesLeft = ANSWER_LIMIT_LINES;
    }
    const { length, lines } = lengthWithin(piece, bytesLeft, linesLeft);
    bytesLeft -= length;
    linesLeft -= lines;
    if (length === piece.length) return piece;
    isOver = true;
    // After the parser has seen the rest: a status that is in it still counts.
    queueMicrotask(() => socket.destroy(new AnswerTooLong()));
    return length === 0 ? null : piece.subarray(0, length);
  };
};

export const withAnswerLimit =
  (connect: buildConnector.connector): buildConnector.connector =>
  (options, callback) =>
    connect(options, (...result) => {
      const [, socket] = result;
      if (socket) limitAnswers(socket);
      callback(...result);
    });
