import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import statics from '@fastify/static';
import type { FastifyInstance } from 'fastify';
import { ServiceError } from '../errors.ts';

const BUILT = fileURLToPath(new URL('../../dist/admin', import.meta.url));

/** Scripts and everything else from this service alone; inline styles only, which the component library writes. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "font-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
].join('; ');

const FOREVER = 'public, max-age=31536000, immutable';

/** The admin app at /admin/: its files, and for every other address of it the one page, which finds its way by itself. */
export const serveAdminApp = async (app: FastifyInstance): Promise<void> => {
  const hide = { schema: { hide: true } };
  app.get('/admin', hide, (_request, reply) => reply.redirect('/admin/', 308));
  if (!existsSync(BUILT)) {
    app.get('/admin/*', hide, () => {
      throw new ServiceError('NO_ROUTE', { message: 'The admin app is not built: run npm run build.' });
    });
    return;
  }
  app.addHook('onSend', async (_request, reply) => {
    reply.header('content-security-policy', POLICY);
  });
  await app.register(statics, { root: BUILT, serve: false, cacheControl: false, preCompressed: true });
  app.get<{ Params: { '*': string } }>('/admin/*', hide, (request, reply) => {
    const path = request.params['*'];
    // What is no address of the admin API is no page either.
    if (path.startsWith('api/')) throw new ServiceError('NO_ROUTE');
    const isFile = /\.\w+$/.test(path);
    // Built files carry a hash of their content in their name.
    reply.header('cache-control', path.startsWith('assets/') ? FOREVER : 'no-cache');
    return reply.sendFile(isFile ? path : 'index.html');
  });
};
