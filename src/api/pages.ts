import type { FastifyInstance } from 'fastify';
import type { Config } from '../config.ts';
import { ServiceError } from '../errors.ts';
import { type BuiltFiles, serveBuilt } from '../http/built-files.ts';
import { refuseOtherMethodsOn } from '../http/method-not-allowed.ts';
import { serveDocsText } from './docs-text.ts';

/** Everything comes from this service, nothing from elsewhere, and no script is inline. */
const OWN_FILES_ONLY = [
  "default-src 'none'",
  "script-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
];

/** The documentation: its pages by name, the scripts, the styles and the index of its search. */
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
      : ["style-src 'self'", "img-src 'self' data:"]),
  ],
  fileFor(path) {
    if (path === '') return 'index.html';
    if (/^[a-z-]+$/.test(path)) return `${path}.html`;
    return /^assets\/[\w-]+\.(js|css|json)$/.test(path) ? path : null;
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

/** A person who types the service's address wants the app. Programs, which do not ask for a page, are told what is there. */
const leadToApp = (app: FastifyInstance): void => {
  app.get('/', { schema: { hide: true } }, ({ headers }, reply) => {
    if (!/\btext\/html\b/.test(headers.accept ?? '')) throw new ServiceError('ROUTE_NOT_FOUND');
    return reply.header('vary', 'accept').redirect('/admin/', 302);
  });
};

export const servePages = (app: FastifyInstance, config: Config): void => {
  leadToApp(app);
  const kinds = [DOCS, ADMIN_APP].map((files) => serveBuilt(app, files));
  refuseOtherMethodsOn(app, (path) => kinds.some((isPage) => isPage(path)));
  serveDocsText(app, config);
};
