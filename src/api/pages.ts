import { readFile } from 'node:fs/promises';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { type BuiltFiles, serveBuilt } from '../http/built-files.ts';
import { baseUrlFor, refuseUnknown } from '../http/error-responses.ts';
import type { Config } from '../platform/config.ts';
import { ServiceError } from '../platform/errors.ts';

/** Everything comes from this service, nothing from elsewhere, and no script is inline. */
const OWN_FILES_ONLY = [
  "default-src 'none'",
  "script-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
];

const DOCS: BuiltFiles = {
  name: 'docs',
  title: 'documentation',
  policyFor: (file) => [
    ...OWN_FILES_ONLY,
    "form-action 'none'",
    // Only the interactive reference writes styles into its page and makes files of its own.
    ...(file === 'reference.html'
      ? [
          "style-src 'self' 'unsafe-inline'",
          "img-src 'self' data: blob:",
          "font-src 'self' data:",
          "worker-src 'self' blob:",
        ]
      : ["style-src 'self'", "img-src 'self' data:", "font-src 'self'"]),
  ],
  fileFor(path) {
    if (path === '') return 'index.html';
    if (/^[a-z-]+$/.test(path)) return `${path}.html`;
    return /^assets\/[\w-]+\.(js|css|json|woff2)$/.test(path) ? path : null;
  },
};

/** The admin app: its files, and its one page for every other address below /admin/, which the app itself routes. */
const ADMIN_APP: BuiltFiles = {
  name: 'admin',
  title: 'admin app',
  policyFor: () => [
    ...OWN_FILES_ONLY,
    "form-action 'self'",
    // Inline styles only because the component library writes them.
    "style-src 'self' 'unsafe-inline'",
    "img-src 'self' data:",
    "font-src 'self'",
  ],
  fileFor(path) {
    // An unknown address of the admin API is no page.
    if (path.startsWith('api/')) return null;
    return /\.\w+$/.test(path) ? path : 'index.html';
  },
};

export const PAGES = [ADMIN_APP, DOCS];

// The documentation as plain text: /llms.txt, every page as Markdown, and the Postman collection. Examples show the reader's own address.

/** What the docs say where the reader's own address belongs; scripts/docs/pages.ts has the same. */
const EXAMPLE_URL = 'https://returns.example.com';

const serveDocsText = (app: FastifyInstance, config: Config): void => {
  const send = async (request: FastifyRequest, reply: FastifyReply, name: string, type: string) => {
    const text = await readFile(new URL(`../../dist/docs/${name}`, import.meta.url), 'utf8').catch(
      (cause) => {
        throw new ServiceError('ROUTE_NOT_FOUND', { cause });
      },
    );
    // It may repeat the request's own address, so no cache may keep it for the next reader.
    reply.header('cache-control', 'no-store').type(`${type}; charset=utf-8`);
    return text.replaceAll(EXAMPLE_URL, () => baseUrlFor(config, request));
  };
  app.get('/llms.txt', (request, reply) => send(request, reply, 'llms.txt', 'text/plain'));
  app.get('/docs/postman.json', (request, reply) => send(request, reply, 'postman.json', 'application/json'));
  app.get<{ Params: { page: string } }>('/docs/:page(^[a-z-]+).md', (request, reply) =>
    send(request, reply, `${request.params.page}.md`, 'text/markdown'),
  );
};

export const servePages = (app: FastifyInstance, config: Config): void => {
  // For people who type the service's address. API clients, which ask for no page, get the usual 404.
  app.get('/', ({ headers }, reply) => {
    if (!/\btext\/html\b/.test(headers.accept ?? '')) throw new ServiceError('ROUTE_NOT_FOUND');
    return reply.header('vary', 'accept').redirect(`${config.publicPath}/admin/`, 302);
  });
  const kinds = PAGES.map((files) => serveBuilt(app, files, config.publicPath));
  refuseUnknown(app, (path) => (kinds.some((isPage) => isPage(path)) ? ['GET', 'HEAD'] : undefined));
  serveDocsText(app, config);
};
