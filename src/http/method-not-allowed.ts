import type { FastifyInstance } from 'fastify';
import { ServiceError } from '../errors.ts';

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];

/** Runs `register`, then answers 405 when an address it registered is called with another method. */
export const refuseOtherMethods = (app: FastifyInstance, register: () => void): void => {
  const methodsByUrl = new Map<string, Set<string>>();
  let isCollecting = true;
  app.addHook('onRoute', ({ method, url }) => {
    if (!isCollecting) return;
    const methods = methodsByUrl.get(url) ?? new Set();
    for (const each of [method].flat()) methods.add(each);
    methodsByUrl.set(url, methods);
  });
  register();
  isCollecting = false;
  for (const [url, methods] of methodsByUrl) {
    const allow = [...methods].join(', ');
    app.route({
      method: METHODS.filter((method) => !methods.has(method)),
      url: url.slice(app.prefix.length),
      config: { isPublic: true },
      schema: { hide: true },
      onRequest: async () => {
        throw new ServiceError('METHOD_NOT_ALLOWED', {
          message: `This address takes ${allow}.`,
          headers: { allow },
        });
      },
      handler: () => undefined,
    });
  }
};
