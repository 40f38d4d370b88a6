import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Config } from '../config.ts';
import { ServiceError } from '../errors.ts';
import { baseUrlFor } from '../http/errors.ts';

// The documentation as plain text: /llms.txt, every page as Markdown, and the Postman collection. Examples show the address that
// the reader uses.

/** What the docs say where the reader's own address belongs; scripts/docs/pages.ts has the same. */
const EXAMPLE_URL = 'https://returns.example.com';

const readTexts = (folder: string): Map<string, string> =>
  new Map(
    (existsSync(folder) ? readdirSync(folder) : [])
      .filter((name) => /\.(md|txt|json)$/.test(name))
      .map((name) => [name, readFileSync(join(folder, name), 'utf8')]),
  );

export const serveDocsText = (app: FastifyInstance, config: Config): void => {
  const texts = readTexts(fileURLToPath(new URL('../../dist/docs', import.meta.url)));
  const hide = { schema: { hide: true } };
  const textOf = (name: string, request: FastifyRequest): string => {
    const text = texts.get(name);
    if (text === undefined) throw new ServiceError('ROUTE_NOT_FOUND');
    return text.replaceAll(EXAMPLE_URL, () => baseUrlFor(config, request));
  };
  // The text may repeat the request's own address, so no cache keeps it for the next reader.
  const send = (request: FastifyRequest, reply: FastifyReply, name: string, type: string) =>
    reply.header('cache-control', 'no-store').type(`${type}; charset=utf-8`).send(textOf(name, request));
  app.get('/llms.txt', hide, (request, reply) => send(request, reply, 'llms.txt', 'text/plain'));
  app.get('/docs/postman.json', hide, (request, reply) =>
    send(request, reply, 'postman.json', 'application/json'),
  );
  app.get<{ Params: { page: string } }>('/docs/:page(^[a-z-]+).md', hide, (request, reply) =>
    send(request, reply, `${request.params.page}.md`, 'text/markdown'),
  );
};
