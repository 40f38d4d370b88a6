import type { FastifyInstance } from 'fastify';
import { ServiceError } from '../errors.ts';

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE'];

/** The methods that an address does not take, given those that it takes. */
export const otherThan = (taken: Iterable<string>): string[] => {
  const known = new Set(taken);
  return METHODS.filter((method) => !known.has(method));
};

export const methodNotAllowed = (taken: Iterable<string>): ServiceError => {
  const allow = [...taken].join(', ');
  return new ServiceError('METHOD_NOT_ALLOWED', {
    message: `This address takes ${allow}.`,
    headers: { allow },
  });
};

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
    app.route({
      method: otherThan(methods),
      url: url.slice(app.prefix.length),
      config: { isPublic: true },
      schema: { hide: true },
      onRequest: async () => {
        throw methodNotAllowed(methods);
      },
      handler: () => undefined,
    });
  }
};
