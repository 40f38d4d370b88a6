import type { FastifyInstance } from 'fastify';
import { ServiceError } from '../errors.ts';

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];

/** Runs `register`, then answers 405 wherever an address it made is called with a method it does not take. */
export const refusingOtherMethods = (app: FastifyInstance, register: () => void): void => {
  const taken = new Map<string, Set<string>>();
  let collecting = true;
  app.addHook('onRoute', ({ method, url }) => {
    if (!collecting) return;
    const methods = taken.get(url) ?? new Set();
    for (const each of [method].flat()) methods.add(each);
    taken.set(url, methods);
  });
  register();
  collecting = false;
  for (const [url, methods] of taken) {
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
