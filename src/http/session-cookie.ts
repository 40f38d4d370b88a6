import type { CookieSerializeOptions } from '@fastify/cookie';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Context } from '../context.ts';
import { SESSION_MS } from '../staff/sessions.ts';

export const SESSION_COOKIE = 'handback_session';

/** No script can read it, no other site makes it go along, and nothing outside the admin app ever gets it. */
export const adminCookie = ({ config }: Context): CookieSerializeOptions => ({
  path: '/admin',
  httpOnly: true,
  sameSite: 'strict',
  secure: config.publicUrl.startsWith('https:'),
});

// biome-ignore lint/suspicious/noExplicitAny: replies of differently typed routes all fit
export type AnyReply = FastifyReply<any, any, any, any, any, any, any>;

export const sessionTokenOf = (request: Pick<FastifyRequest, 'cookies'>): string | undefined =>
  request.cookies[SESSION_COOKIE];

export const setSessionCookie = (ctx: Context, reply: AnyReply, token: string): void => {
  reply.setCookie(SESSION_COOKIE, token, { ...adminCookie(ctx), maxAge: SESSION_MS / 1000 });
};

export const clearSessionCookie = (ctx: Context, reply: AnyReply): void => {
  reply.clearCookie(SESSION_COOKIE, adminCookie(ctx));
};
