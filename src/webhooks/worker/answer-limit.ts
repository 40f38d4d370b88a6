import type { Socket } from 'node:net';
import type { buildConnector } from 'undici';
import { ANSWER_LIMIT_BYTES } from '../policy.ts';

/** The receiver's answer was longer than we read. */
export class AnswerTooLong extends Error {}

/**
 * Breaks off a connection when one exchange has brought in more than the limit, in whatever part of the answer: the parser
 * bounds only some of them. An exchange begins with a write, so what came before the last write is not counted.
 */
const limitAnswers = (socket: Socket): void => {
  let written = 0;
  let readBefore = 0;
  let readSoFar = 0;
  const check = (): void => {
    if (socket.bytesWritten !== written) {
      written = socket.bytesWritten;
      readBefore = readSoFar;
    }
    readSoFar = socket.bytesRead;
    if (readSoFar - readBefore > ANSWER_LIMIT_BYTES) socket.destroy(new AnswerTooLong());
  };
  // After the parser has seen the same bytes: a status that is among them still counts.
  socket.on('readable', () => queueMicrotask(check));
};

export const withAnswerLimit =
  (connect: buildConnector.connector): buildConnector.connector =>
  (options, callback) =>
    connect(options, (...result) => {
      const [, socket] = result;
      if (socket) limitAnswers(socket);
      callback(...result);
    });
