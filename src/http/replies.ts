import { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';

// biome-ignore lint/suspicious/noExplicitAny: replies of differently typed routes all fit
type AnyReply = FastifyReply<any, any, any, any, any, any, any>;

interface SentPage<Item> {
  items: Item[];
  total: number;
  page: number;
  limit: number;
  totalPages: number;
}

/** Sends a page of a list, which is JSON already: a text, or a stream where it is large. */
export const sendPage = async <Item>(
  reply: AnyReply,
  page: Promise<{ body: string | Readable; items?: Item[] }>,
): Promise<SentPage<Item>> => {
  const { body } = await page;
  reply.type('application/json; charset=utf-8');
  // A HEAD gets no body, nor does a request that was answered at its deadline: nothing more is read for them.
  if (body instanceof Readable && (reply.request.method === 'HEAD' || reply.sent)) body.destroy();
  return body as object as SentPage<Item>;
};

export const sendJson = async <Body>(reply: AnyReply, text: Promise<string>): Promise<Body> => {
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
