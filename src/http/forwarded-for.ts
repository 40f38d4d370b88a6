import type { FastifyInstance } from 'fastify';

const WITH_PORT = /^(?:(\d+\.\d+\.\d+\.\d+)|\[([0-9a-f:.]+)\])(?::\d+)?$/i;

/** Removes the ports from `1.2.3.4:5678` and `[2001:db8::1]:443`; leaves everything else alone. */
export const withoutPorts = (forwardedFor: string): string =>
  forwardedFor
    .split(',')
    .map((entry) => entry.trim().replace(WITH_PORT, (_, v4?: string, v6?: string) => v4 ?? v6 ?? ''))
    .join(', ');

/** Some proxies append the caller's port to the address. It is removed before anything reads `request.ip`. */
export const ignoreForwardedPorts = (app: FastifyInstance): void => {
  app.addHook('onRequest', ({ headers }, _reply, done) => {
    const forwardedFor = headers['x-forwarded-for'];
    if (typeof forwardedFor === 'string' && forwardedFor.includes(':'))
      headers['x-forwarded-for'] = withoutPorts(forwardedFor);
    done();
  });
};
