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
export const sendJson = async (reply: AnyReply, text: string): Promise<void> => {
  await reply.type('application/json; charset=utf-8').send(text);
};

type Key = string | undefined;

interface CreationRequest extends Pick<FastifyRequest, 'headers'> {
  query: { dryRun: boolean };
}

/**
 * Answers a creation with 201, and one that was only tried with 200. A header says when the answer is that of an earlier
 * request with the same key.
 */
export const sendCreated = async (
  { headers, query }: CreationRequest,
  reply: AnyReply,
  create: (key: Key) => Promise<{ answer: unknown; replayed: boolean }>,
  tryOut: (key: Key) => Promise<unknown>,
): Promise<void> => {
  const key = headers['idempotency-key'] as Key;
  if (query.dryRun) {
    await reply.send(await tryOut(key));
    return;
  }
  const { answer, replayed } = await create(key);
  if (replayed) reply.header('idempotency-replayed', 'true');
  await reply.code(201).send(answer);
};
