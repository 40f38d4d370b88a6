import { existsSync } from 'node:fs';
import { join, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import statics from '@fastify/static';
import type { FastifyInstance } from 'fastify';
import { ServiceError } from '../errors.ts';

interface BuiltFiles {
  /** Where they are served, and their folder in dist. */
  name: 'admin' | 'docs';
  title: string;
  /** Their content security policy. */
  policy: string[];
  /** Which file answers for a path; null where nothing does. */
  fileFor(path: string): string | null;
}

const FOREVER = 'public, max-age=31536000, immutable';

/**
 * Serves what `npm run build` made: streamed from disk, compressed beforehand, so that a reader who takes nothing costs next
 * to nothing.
 */
export const serveBuilt = async (
  app: FastifyInstance,
  { name, title, policy, fileFor }: BuiltFiles,
): Promise<void> => {
  const root = fileURLToPath(new URL(`../../dist/${name}`, import.meta.url));
  const hide = { schema: { hide: true } };
  app.get(`/${name}`, hide, (_request, reply) => reply.redirect(`/${name}/`, 308));
  if (!existsSync(root)) {
    app.get(`/${name}/*`, hide, () => {
      throw new ServiceError('NO_ROUTE', { message: `The ${title} is not built: run npm run build.` });
    });
    return;
  }
  const assets = `${join(root, 'assets')}${sep}`;
  const contentSecurityPolicy = policy.join('; ');
  await app.register(statics, {
    root,
    serve: false,
    cacheControl: false,
    preCompressed: true,
    // Only where the file is there: a 404 that is kept for ever would outlive an upgrade.
    setHeaders(reply, file) {
      reply.header('content-security-policy', contentSecurityPolicy);
      // Built assets carry a hash of their content in their name.
      reply.header('cache-control', file.startsWith(assets) ? FOREVER : 'no-cache');
    },
  });
  app.get<{ Params: { '*': string } }>(`/${name}/*`, hide, (request, reply) => {
    const file = fileFor(request.params['*']);
    if (file === null) throw new ServiceError('NO_ROUTE');
    return reply.sendFile(file);
  });
};
