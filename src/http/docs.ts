import { randomBytes } from 'node:crypto';
import { type FastifyInstance, fastify } from 'fastify';
import { BASE_PATH } from '../../contract/common.ts';
import { ServiceError } from '../errors.ts';

const FAVICON =
  'data:image/svg+xml,%3Csvg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"%3E%3Cpath d="M6 2 1 7l5 5V9h4a3 3 0 0 1 0 6h5a6 6 0 0 0-5-10H6z" fill="%231c7ed6"/%3E%3C/svg%3E';

/** The interactive reference at /docs: everything comes from this process, nothing from elsewhere. */
export const serveDocs = async (app: FastifyInstance): Promise<void> => {
  // The page is the same for everybody and holds nothing a visitor sent, so one nonce a process is enough.
  const nonce = randomBytes(16).toString('base64');
  const policy = [
    "default-src 'none'",
    `script-src 'self' 'nonce-${nonce}'`,
    "style-src 'self' 'unsafe-inline'",
    "img-src 'self' data: blob:",
    "font-src 'self' data:",
    "connect-src 'self'",
    "worker-src 'self' blob:",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
  app.addHook('onSend', async (_request, reply) => {
    reply.header('content-security-policy', policy);
  });
  let reference: Promise<FastifyInstance> | null = null;
  for (const url of ['/docs', '/docs/*'])
    app.get(url, { schema: { hide: true } }, async (request, reply) => {
      reference ??= openReference(nonce);
      const { statusCode, headers, rawPayload } = await (await reference).inject({ url: request.url });
      if (statusCode === 404) throw new ServiceError('NO_ROUTE');
      const { 'content-type': type = 'text/plain', location } = headers;
      if (location) reply.header('location', location);
      return reply.code(statusCode).header('content-type', type).send(rawPayload);
    });
};

/** Loaded when somebody first opens it: it takes 40 MB and a fifth of a second, which a start need not wait for. */
const openReference = async (nonce: string): Promise<FastifyInstance> => {
  const { default: apiReference } = await import('@scalar/fastify-api-reference');
  const app = fastify();
  await app.register(apiReference, {
    routePrefix: '/docs',
    configuration: {
      url: `${BASE_PATH}/openapi.json`,
      pageTitle: 'Handback API reference',
      nonce,
      withDefaultFonts: false,
      agent: { disabled: true },
      mcp: { disabled: true },
      hideClientButton: true,
      showDeveloperTools: 'never',
      orderSchemaPropertiesBy: 'preserve',
      favicon: FAVICON,
      telemetry: false,
      persistAuth: false,
    },
  });
  return app;
};
