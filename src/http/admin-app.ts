import type { FastifyInstance } from 'fastify';
import { serveBuilt } from './built-files.ts';

/** The admin app at /admin/: its files, and for every other address of it the one page, which finds its way by itself. */
export const serveAdminApp = (app: FastifyInstance): Promise<void> =>
  serveBuilt(app, {
    name: 'admin',
    title: 'admin app',
    // Scripts and everything else from this service alone; inline styles only, which the component library writes.
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
      // What is no address of the admin API is no page either.
      if (path.startsWith('api/')) return null;
      return /\.\w+$/.test(path) ? path : 'index.html';
    },
  });
