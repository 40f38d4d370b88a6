import type { CookieSerializeOptions } from '@fastify/cookie';
import type { Config } from '../config.ts';
import { SESSION_MS } from './sessions.ts';

export const SESSION_COOKIE = 'handback_session';
const DEVICE_COOKIE = 'handback_device';
const DEVICE_KEPT_S = 365 * 24 * 60 * 60;

interface CookieRequest {
  cookies: Record<string, string | undefined>;
}
interface CookieReply {
  setCookie(name: string, value: string, options: CookieSerializeOptions): unknown;
  clearCookie(name: string, options: CookieSerializeOptions): unknown;
}

/** Scripts cannot read these cookies, other sites cannot make a browser send them, and only the admin app gets them. */
const attributes = ({ publicUrl }: Pick<Config, 'publicUrl'>): CookieSerializeOptions => ({
  path: '/admin',
  httpOnly: true,
  sameSite: 'strict',
  secure: publicUrl.startsWith('https:'),
});

export const sessionTokenOf = ({ cookies }: CookieRequest): string | undefined => cookies[SESSION_COOKIE];

/** Says who signed in with this browser before. It outlives sessions, and gives access to nothing. */
export const deviceOf = ({ cookies }: CookieRequest): string | undefined => cookies[DEVICE_COOKIE];

export const setSessionCookie = (config: Config, reply: CookieReply, token: string): void => {
  reply.setCookie(SESSION_COOKIE, token, { ...attributes(config), maxAge: SESSION_MS / 1000 });
};

export const clearSessionCookie = (config: Config, reply: CookieReply): void => {
  reply.clearCookie(SESSION_COOKIE, attributes(config));
};

export const setDeviceCookie = (config: Config, reply: CookieReply, device: string): void => {
  reply.setCookie(DEVICE_COOKIE, device, { ...attributes(config), maxAge: DEVICE_KEPT_S });
};
