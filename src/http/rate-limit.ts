import type { FastifyReply, FastifyRequest } from 'fastify';
import ipaddr from 'ipaddr.js';
import { type RateLimiterAbstract, RateLimiterRes } from 'rate-limiter-flexible';
import type { Context } from '../context.ts';
import type { RateWindow } from '../db/database.ts';
import { ServiceError } from '../errors.ts';

/** How often one address may call: specification, "Limits". The short window first, so that a burst it turns away spends nothing of the minute. */
const WINDOWS = {
  create: [
    { name: 'create-second', points: 5, seconds: 1 },
    { name: 'create-minute', points: 60, seconds: 60 },
  ],
  other: [{ name: 'other-minute', points: 200, seconds: 60 }],
} as const satisfies Record<string, readonly RateWindow[]>;
export type RateLimitName = keyof typeof WINDOWS;

/** Whom a request counts for: an IPv4 address, or the /64 an IPv6 address is in, since one host has all of it. */
export const addressKey = (ip: string): string => {
  if (!ipaddr.isValid(ip)) return ip;
  const address = ipaddr.process(ip);
  return address instanceof ipaddr.IPv6
    ? `${address.parts
        .slice(0, 4)
        .map((part) => part.toString(16))
        .join(':')}::/64`
    : address.toString();
};

/** Whom this request counts for. */
export const callerAddress = ({ ip, socket }: Pick<FastifyRequest, 'ip' | 'socket'>): string =>
  addressKey(ipaddr.isValid(ip) ? ip : (socket.remoteAddress ?? ''));

const secondsUntil = (ms: number): number => Math.max(1, Math.ceil(ms / 1000));

export const rateLimitGate = (ctx: Context) => {
  const limiters = Object.fromEntries(
    Object.entries(WINDOWS).map(([name, windows]) => [
      name,
      windows.map((window) => ({ window, limiter: ctx.rateLimiter(window) })),
    ]),
  ) as Record<RateLimitName, { window: RateWindow; limiter: RateLimiterAbstract }[]>;

  return async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    const key = callerAddress(request);
    for (const { window, limiter } of limiters[request.routeOptions.config.limit ?? 'other']) {
      const { state, refused } = await consume(limiter, key);
      const resetS = String(secondsUntil(state.msBeforeNext));
      reply.headers({
        'ratelimit-limit': String(window.points),
        'ratelimit-remaining': String(state.remainingPoints),
        'ratelimit-reset': resetS,
      });
      if (refused) throw new ServiceError('RATE_LIMITED', { headers: { 'retry-after': resetS } });
    }
  };
};

/** The library rejects with the state where the limit is reached, and with an error where it could not count. */
const consume = async (
  limiter: RateLimiterAbstract,
  key: string,
): Promise<{ state: RateLimiterRes; refused: boolean }> => {
  try {
    return { state: await limiter.consume(key), refused: false };
  } catch (rejection) {
    if (rejection instanceof RateLimiterRes) return { state: rejection, refused: true };
    throw rejection;
  }
};
