import { Readable } from 'node:stream';
import type { FastifyReply } from 'fastify';

/** What a route sends for a page of a list: the page as it is, or a stream of its JSON where it is large. */
export const sendPage = async <Page extends object>(
  // biome-ignore lint/suspicious/noExplicitAny: replies of differently typed routes all fit
  reply: FastifyReply<any, any, any, any, any, any, any>,
  page: Promise<Page | Readable>,
): Promise<Page> => {
  const answer = await page;
  if (answer instanceof Readable) {
    reply.type('application/json; charset=utf-8');
    // Nobody gets the body of a HEAD: without this all of it would be read from the database for nothing.
    if (reply.request.method === 'HEAD') answer.destroy();
  }
  return answer as Page;
};
