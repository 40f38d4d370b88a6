import { readFile } from 'node:fs/promises';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { type BuiltFiles, serveBuilt } from '../http/built-files.ts';
import { baseUrlFor, refuseUnknown } from '../http/error-responses.ts';
import type { Config } from '../platform/config.ts';
import { ServiceError } from '../platform/errors.ts';

/** All files come from this service, and no script is inline. */
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
    // Only the interactive reference writes inline styles and creates files.
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

/** The admin app: its files, and its page for every other path below /admin/, which the app routes itself. */
const ADMIN_APP: BuiltFiles = {
  name: 'admin',
  title: 'admin app',
  policyFor: () => [
    ...OWN_FILES_ONLY,
    "form-action 'self'",
    // Inline styles are allowed because the component library writes them.
    "style-src 'self' 'unsafe-inline'",
    "img-src 'self' data:",
    "font-src 'self'",
  ],
  fileFor(path) {
    // An unknown path of the admin API is not a page.
    if (path.startsWith('api/')) return null;
    return /\.\w+$/.test(path) ? path : 'index.html';
  },
};

export const PAGES = [ADMIN_APP, DOCS];

// The documentation as plain text: /llms.txt, every page as Markdown, and the Postman collection. Examples contain the reader's address.

/** The placeholder for the reader's address in the docs, the same as in scripts/docs/pages.ts. */
const EXAMPLE_URL = 'https://returns.example.com';

const serveDocsText = (app: FastifyInstance, config: Config): void => {
  const send = async (request: FastifyRequest, reply: FastifyReply, name: string, type: string) => {
    const text = await readFile(new URL(`../../dist/docs/${name}`, import.meta.url), 'utf8').catch(
      (cause) => {
        throw new ServiceError('ROUTE_NOT_FOUND', { cause });
      },
    );
    // The page may contain the address of the request, so no cache may store it.
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
  // This is for people who open the service's address. API clients, which do not accept HTML, get the usual 404.
  app.get('/', ({ headers }, reply) => {
    if (!/\btext\/html\b/.test(headers.accept ?? '')) throw new ServiceError('ROUTE_NOT_FOUND');
    return reply.header('vary', 'accept').redirect(`${config.publicPath}/admin/`, 302);
  });
  const kinds = PAGES.map((files) => serveBuilt(app, files, config.publicPath));
  refuseUnknown(app, (path) => (kinds.some((isPage) => isPage(path)) ? ['GET', 'HEAD'] : undefined));
  serveDocsText(app, config);
};
