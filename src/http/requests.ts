import type { IncomingMessage } from 'node:http';
import { isIP, isIPv4 } from 'node:net';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import ipaddr from 'ipaddr.js';
import { ADMIN_BASE_PATH } from '../../contract/admin-people.ts';
import { BASE_PATH } from '../../contract/common.ts';
import { newId } from '../lib/ids.ts';

// Reads the id, the caller's address, the URL and the headers of a request.

export const REQUEST_ID_HEADER = 'x-request-id';
const PRINTABLE = /^[\x20-\x7e]{1,128}$/;

export const requestIdOf = ({ headers }: Pick<IncomingMessage, 'headers'>, nowMs: number): string => {
  const own = headers[REQUEST_ID_HEADER];
  return typeof own === 'string' && PRINTABLE.test(own) ? own : newId(nowMs);
};

/** The key of rate limits: an IPv4 address, or the /64 network of an IPv6 address, since one host owns all of it. */
export const addressKey = (ip: string): string => {
  if (isIPv4(ip) || !ipaddr.isValid(ip)) return ip;
  const address = ipaddr.process(ip);
  if (!(address instanceof ipaddr.IPv6)) return address.toString();
  const network = address.parts.slice(0, 4).map((part) => part.toString(16));
  return `${network.join(':')}::/64`;
};

/** The key of a request's caller. If a proxy forwards an invalid address, that of the connection counts. */
export const callerAddress = ({ ip, socket }: Pick<FastifyRequest, 'ip' | 'socket'>): string =>
  addressKey(isIP(ip) || ipaddr.isValid(ip) ? ip : (socket.remoteAddress ?? ''));

const WITH_PORT = /^(?:(\d+\.\d+\.\d+\.\d+)|\[([0-9a-f:.]+)\])(?::\d+)?$/i;

const withoutPorts = (forwardedFor: string): string =>
  forwardedFor
    .split(',')
    .map((entry) => entry.trim().replace(WITH_PORT, (_, v4?: string, v6?: string) => v4 ?? v6 ?? ''))
    .join(', ');

/** Some proxies append the caller's port to the address. This removes it before anything reads `request.ip`. */
export const readForwardedFor = (app: FastifyInstance): void => {
  app.addHook('onRequest', ({ headers }, _reply, done) => {
    const forwardedFor = headers['x-forwarded-for'];
    if (typeof forwardedFor === 'string' && forwardedFor.includes(':'))
      headers['x-forwarded-for'] = withoutPorts(forwardedFor);
    done();
  });
};

/** Returns null unless the text is UTF-8 in percent-encoding, unlike `%ff` and `%zz`. */
export const decoded = (encoded: string): string | null => {
  try {
    return decodeURIComponent(encoded.replaceAll('+', ' '));
  } catch {
    return null;
  }
};

/** Encodes the percent signs of a path that cannot be decoded, so that it leads to a normal 404. */
const decodable = (url: string): string => {
  if (!url.includes('%')) return url;
  const [path = '', ...query] = url.split('?');
  return decoded(path) === null ? [path.replaceAll('%', '%25'), ...query].join('?') : url;
};

const SLASH_AT_END = new RegExp(`^((?:${BASE_PATH}|${ADMIN_BASE_PATH})/[^?]*[^/?])/(?=\\?|$)`);

/** A proxy may forward the path of PUBLIC_URL or remove it; both work (docs/contract.md). */
const withoutPath = (url: string, publicPath: string): string => {
  const rest = url.slice(publicPath.length);
  if (publicPath === '' || !url.startsWith(publicPath) || !/^([/?]|$)/.test(rest)) return url;
  return rest.startsWith('/') ? rest : `/${rest}`;
};

/** Ids are case-insensitive, since some databases and languages print them in upper case. */
const ID_IN_PATH = /\/[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}(?=[/?]|$)/gi;

const withLowerCaseIds = (url: string): string => url.replace(ID_IN_PATH, (id) => id.toLowerCase());

/** The path for the router. In both APIs a trailing slash is ignored (docs/contract.md). */
export const routerPath = (url: string, publicPath: string): string =>
  decodable(withLowerCaseIds(withoutPath(url, publicPath).replace(SLASH_AT_END, '$1')));

/** Counts how often a header was sent. Node keeps the first one, while a proxy may have used another. */
export const countOf = (name: string, rawHeaders: string[]): number => {
  let count = 0;
  for (let i = 0; i < rawHeaders.length; i += 2)
    if (rawHeaders[i]?.length === name.length && rawHeaders[i]?.toLowerCase() === name) count += 1;
  return count;
};
