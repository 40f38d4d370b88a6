import { randomBytes } from 'node:crypto';
import apiReference from '@scalar/fastify-api-reference';
import type { FastifyInstance } from 'fastify';
import { BASE_PATH } from '../../contract/common.ts';

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
      telemetry: false,
      persistAuth: false,
    },
  });
};
