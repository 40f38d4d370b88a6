import type { CookieSerializeOptions } from '@fastify/cookie';
import type { Config } from '../config.ts';
import { SESSION_MS } from './sessions.ts';

export const SESSION_COOKIE = 'handback_session';
const DEVICE_COOKIE = 'handback_device';
const DEVICE_KEPT_S = 365 * 24 * 60 * 60;

type Site = Pick<Config, 'publicUrl'>;
interface CookieRequest {
  cookies: Record<string, string | undefined>;
}
interface CookieReply {
  setCookie(name: string, value: string, options: CookieSerializeOptions): unknown;
  clearCookie(name: string, options: CookieSerializeOptions): unknown;
}

const isHttps = ({ publicUrl }: Site): boolean => publicUrl.startsWith('https:');

/** Browsers take a cookie with this prefix over https alone: a page of a sibling host without TLS cannot plant one. */
const nameOf = (site: Site, name: string): string => (isHttps(site) ? `__Secure-${name}` : name);

/** Scripts cannot read these cookies, other sites cannot make a browser send them, and only the admin app gets them. */
const attributes = (site: Site): CookieSerializeOptions => ({
  path: '/admin',
  httpOnly: true,
  sameSite: 'strict',
  secure: isHttps(site),
});

export const sessionTokenOf = (site: Site, { cookies }: CookieRequest): string | undefined =>
  cookies[nameOf(site, SESSION_COOKIE)];

/** Says who signed in with this browser before. It outlives sessions, and gives access to nothing. */
export const deviceOf = (site: Site, { cookies }: CookieRequest): string | undefined =>
  cookies[nameOf(site, DEVICE_COOKIE)];

export const setSessionCookie = (site: Site, reply: CookieReply, token: string): void => {
  reply.setCookie(nameOf(site, SESSION_COOKIE), token, { ...attributes(site), maxAge: SESSION_MS / 1000 });
};

export const clearSessionCookie = (site: Site, reply: CookieReply): void => {
  reply.clearCookie(nameOf(site, SESSION_COOKIE), attributes(site));
};

export const setDeviceCookie = (site: Site, reply: CookieReply, device: string): void => {
  reply.setCookie(nameOf(site, DEVICE_COOKIE), device, { ...attributes(site), maxAge: DEVICE_KEPT_S });
};
