import type { IncomingMessage } from 'node:http';
import { newId } from '../ids.ts';

export const REQUEST_ID_HEADER = 'x-request-id';
const PRINTABLE = /^[\x20-\x7e]{1,128}$/;

/** The caller's own id if it is short and printable, else a new one. */
export const requestIdOf = (request: Pick<IncomingMessage, 'headers'>, nowMs: number): string => {
  const own = request.headers[REQUEST_ID_HEADER];
  return typeof own === 'string' && PRINTABLE.test(own) ? own : newId(nowMs);
};
