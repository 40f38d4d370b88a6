import type { FastifyReply } from 'fastify';

/** Aborts when the caller hangs up before the answer was sent. */
export const hangUpOf = ({ raw }: Pick<FastifyReply, 'raw'>): AbortSignal => {
  const leaving = new AbortController();
  raw.once('close', () => leaving.abort());
  return leaving.signal;
};
