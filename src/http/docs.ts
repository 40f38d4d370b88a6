import { randomBytes } from 'node:crypto';
import apiReference from '@scalar/fastify-api-reference';
import type { FastifyInstance } from 'fastify';
import { BASE_PATH } from '../../contract/common.ts';

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
};
