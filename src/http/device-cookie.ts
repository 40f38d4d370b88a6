import type { FastifyRequest } from 'fastify';
import type { Context } from '../context.ts';
import { type AnyReply, adminCookie } from './session-cookie.ts';

const DEVICE_COOKIE = 'handback_device';
const KEPT_S = 365 * 24 * 60 * 60;

/** Says who signed in with this browser before. It outlives sessions, and opens nothing. */
export const deviceOf = (request: Pick<FastifyRequest, 'cookies'>): string | undefined =>
  request.cookies[DEVICE_COOKIE];

export const setDeviceCookie = (ctx: Context, reply: AnyReply, device: string): void => {
  reply.setCookie(DEVICE_COOKIE, device, { ...adminCookie(ctx), maxAge: KEPT_S });
};
