import type { FastifyInstance } from 'fastify';
import { serveBuilt } from './built-files.ts';

/** The interactive reference at /docs: everything comes from this service, nothing from elsewhere. */
export const serveDocs = (app: FastifyInstance): Promise<void> =>
  serveBuilt(app, {
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
  });
