import type { FastifyInstance } from 'fastify';
import { type BuiltFiles, serveBuilt } from '../http/built-files.ts';

/** The interactive reference. Everything comes from this service, nothing from elsewhere. */
const DOCS: BuiltFiles = {
  name: 'docs',
  title: 'reference page',
  policy: [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self' 'unsafe-inline'",
    "img-src 'self' data: blob:",
    "font-src 'self' data:",
    "connect-src 'self'",
    "worker-src 'self' blob:",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ],
  fileFor(path) {
    if (path === '') return 'index.html';
    return /^assets\/[\w-]+\.js$/.test(path) ? path : null;
  },
};

/** The admin app: its files, and its one page for every other address below /admin/, which the app itself routes. */
const ADMIN_APP: BuiltFiles = {
  name: 'admin',
  title: 'admin app',
  // Everything comes from this service alone; inline styles only because the component library writes them.
  policy: [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self' 'unsafe-inline'",
    "img-src 'self' data:",
    "font-src 'self'",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
  ],
  fileFor(path) {
    // An unknown address of the admin API is no page.
    if (path.startsWith('api/')) return null;
    return /\.\w+$/.test(path) ? path : 'index.html';
  },
};

export const servePages = (app: FastifyInstance): void => {
  for (const files of [DOCS, ADMIN_APP]) serveBuilt(app, files);
};
