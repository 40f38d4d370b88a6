import type { IncomingMessage } from 'node:http';
import { newId } from '../ids.ts';

export const REQUEST_ID_HEADER = 'x-request-id';
const KEPT = /^[\x20-\x7e]{1,128}$/;

/** The caller's own id where it is fit to print, else a new one. */
export const requestIdOf = (request: Pick<IncomingMessage, 'headers'>, nowMs: number): string => {
  const own = request.headers[REQUEST_ID_HEADER];
  return typeof own === 'string' && KEPT.test(own) ? own : newId(nowMs);
};
