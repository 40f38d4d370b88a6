import { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';

// biome-ignore lint/suspicious/noExplicitAny: replies of differently typed routes all fit
type AnyReply = FastifyReply<any, any, any, any, any, any, any>;

/** Sends a page of a list: the page itself, or a stream of its JSON where it is large. */
export const sendPage = async <Page extends object>(
  reply: AnyReply,
  page: Promise<Page | Readable>,
): Promise<Page> => {
  const answer = await page;
  if (answer instanceof Readable) {
    reply.type('application/json; charset=utf-8');
    // A HEAD gets no body: without this we would read all of it from the database for nothing.
    if (reply.request.method === 'HEAD') answer.destroy();
  }
  return answer as Page;
};

/** Sends a body that is JSON text already. */
export const sendJson = async <Body extends object>(
  reply: AnyReply,
  text: Promise<string>,
): Promise<Body> => {
  const body: unknown = await text;
  reply.type('application/json; charset=utf-8');
  return body as Body;
};

/** Aborts when the caller hangs up before the answer was sent. */
export const hangUpOf = ({ raw }: AnyReply): AbortSignal => {
  const leaving = new AbortController();
  raw.once('close', () => leaving.abort());
  return leaving.signal;
};

/** The key that makes a creation safe to send again. */
export const idempotencyKeyOf = ({ headers }: Pick<FastifyRequest, 'headers'>): string | undefined =>
  headers['idempotency-key'] as string | undefined;

/** The answer of a creation. A header says when it is that of an earlier request with the same key. */
export const sendCreated = async (
  reply: AnyReply,
  created: Promise<{ answer: unknown; replayed: boolean }>,
): Promise<unknown> => {
  const { answer, replayed } = await created;
  if (replayed) reply.header('idempotency-replayed', 'true');
  return answer;
};
