import { isIP, isIPv4 } from 'node:net';
import type { FastifyReply, FastifyRequest } from 'fastify';
import ipaddr from 'ipaddr.js';
import type { Context } from '../context.ts';
import type { RateState, RateWindows } from '../db/database.ts';
import { memoryRateGate } from '../db/memory-rate-gate.ts';
import { ServiceError } from '../errors.ts';

/** How often one address may call: specification, "Limits". */
const WINDOWS = {
  create: [
    { name: 'create-second', points: 5, seconds: 1 },
    { name: 'create-minute', points: 60, seconds: 60 },
  ],
  other: [{ name: 'other-minute', points: 200, seconds: 60 }],
  /** Pages, their files and unknown addresses. One page takes about 15 files. Decision 92. */
  page: [{ name: 'page-minute', points: 600, seconds: 60 }],
} as const satisfies Record<string, RateWindows>;
export type RateLimitName = Exclude<keyof typeof WINDOWS, 'page'>;

/** Whom a request counts for: an IPv4 address, or the /64 an IPv6 address is in, since one host has all of it. */
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

/** Whom this request counts for. */
export const callerAddress = ({ ip, socket }: Pick<FastifyRequest, 'ip' | 'socket'>): string =>
  addressKey(isIP(ip) || ipaddr.isValid(ip) ? ip : (socket.remoteAddress ?? ''));

const secondsUntil = (ms: number): number => Math.max(1, Math.ceil(ms / 1000));

/** Throws, at once or later, where the caller's address has called too often. */
type RateLimit = (request: FastifyRequest, reply: FastifyReply) => void | Promise<void>;

export const rateLimitGate = (ctx: Context): RateLimit => {
  const gates = {
    create: ctx.rateGate(WINDOWS.create, ctx.clock),
    other: ctx.rateGate(WINDOWS.other, ctx.clock),
  };
  return (request, reply) => {
    const state = gates[request.routeOptions.config.limit ?? 'other'](callerAddress(request));
    return state instanceof Promise ? state.then((later) => heed(reply, later)) : heed(reply, state);
  };
};

/** For pages. Counted by each process for itself: files come also while the database is away, and cost it nothing. */
export const pageLimitGate = (): ((request: FastifyRequest, reply: FastifyReply) => Promise<void>) => {
  const gate = memoryRateGate(WINDOWS.page);
  return async (request, reply) => heed(reply, await gate(callerAddress(request)));
};
export type PageLimit = ReturnType<typeof pageLimitGate>;

const heed = (reply: FastifyReply, { window, remaining, msBeforeNext, refused }: RateState): void => {
  const resetS = String(secondsUntil(msBeforeNext));
  reply.headers({
    'ratelimit-limit': String(window.points),
    'ratelimit-remaining': String(remaining),
    'ratelimit-reset': resetS,
  });
  if (refused) throw new ServiceError('RATE_LIMITED', { headers: { 'retry-after': resetS } });
};
