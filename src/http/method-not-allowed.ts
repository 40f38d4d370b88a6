import type { FastifyInstance } from 'fastify';
import { ServiceError } from '../service/errors.ts';

const methodNotAllowed = (taken: Iterable<string>): ServiceError => {
  const allow = [...taken].join(', ');
  return new ServiceError('METHOD_NOT_ALLOWED', {
    message: `This address takes ${allow}.`,
    headers: { allow },
  });
};

const pathOf = (url: string): string => url.split('?', 1)[0] ?? '';

/** Pages are read and nothing else: 405 where there is one. */
export const refuseOtherMethodsOn = (app: FastifyInstance, isPage: (path: string) => boolean): void => {
  app.addHook('onRequest', async ({ is404, url }) => {
    if (is404 && isPage(pathOf(url))) throw methodNotAllowed(['GET', 'HEAD']);
  });
};

/** `/offline-repairs/:id` as a pattern for addresses. */
const patternOf = (url: string): RegExp =>
  new RegExp(`^${url.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&').replaceAll(/:\w+/g, '[^/]*')}$`);

/**
 * Runs `register`, then answers 405 where an address that it registered is called with another method, and 404 elsewhere: before
 * anything of the body is read. To register a route for each of those methods would take longer than all the rest of a start.
 */
export const refuseOtherMethods = (app: FastifyInstance, register: () => void): void => {
  const methodsByUrl = new Map<string, Set<string>>();
  app.addHook('onRoute', ({ method, url }) => {
    const methods = methodsByUrl.get(url) ?? new Set();
    for (const each of [method].flat()) methods.add(each);
    methodsByUrl.set(url, methods);
  });
  register();
  const known = [...methodsByUrl].map(([url, methods]) => ({ pattern: patternOf(url), methods }));
  app.addHook('onRequest', async ({ is404, url }) => {
    if (!is404) return;
    const found = known.find(({ pattern }) => pattern.test(pathOf(url)));
    throw found ? methodNotAllowed(found.methods) : new ServiceError('ROUTE_NOT_FOUND');
  });
};
