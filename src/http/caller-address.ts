import { isIP, isIPv4 } from 'node:net';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import ipaddr from 'ipaddr.js';

/** What limits count by: an IPv4 address, or the /64 network of an IPv6 address, since one host owns all of it. */
export const addressKey = (ip: string): string => {
  if (isIPv4(ip) || !ipaddr.isValid(ip)) return ip;
  const address = ipaddr.process(ip);
  return address instanceof ipaddr.IPv6
    ? `${address.parts
        .slice(0, 4)
        .map((part) => part.toString(16))
        .join(':')}::/64`
    : address.toString();
};

/** The same for a request. A proxy may forward something that is no address; then the connection's own counts. */
export const callerAddress = ({ ip, socket }: Pick<FastifyRequest, 'ip' | 'socket'>): string =>
  addressKey(isIP(ip) || ipaddr.isValid(ip) ? ip : (socket.remoteAddress ?? ''));

const WITH_PORT = /^(?:(\d+\.\d+\.\d+\.\d+)|\[([0-9a-f:.]+)\])(?::\d+)?$/i;

const withoutPorts = (forwardedFor: string): string =>
  forwardedFor
    .split(',')
    .map((entry) => entry.trim().replace(WITH_PORT, (_, v4?: string, v6?: string) => v4 ?? v6 ?? ''))
    .join(', ');

/**
 * Some proxies append the caller's port to the address. It is removed before anything reads `request.ip`. `onForwarded` is called for every
 * request that names an address.
 */
export const readForwardedFor = (app: FastifyInstance, onForwarded: () => void): void => {
  app.addHook('onRequest', ({ headers }, _reply, done) => {
    const forwardedFor = headers['x-forwarded-for'];
    if (forwardedFor !== undefined) onForwarded();
    if (typeof forwardedFor === 'string' && forwardedFor.includes(':'))
      headers['x-forwarded-for'] = withoutPorts(forwardedFor);
    done();
  });
};
