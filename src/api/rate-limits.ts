import type { FastifyReply, FastifyRequest } from 'fastify';
import { memoryRateGate } from '../db/rate-windows.ts';
import type { RateGate, RateState, RateWindows } from '../db/types.ts';
import { callerAddress } from '../http/requests.ts';
import { rateLimited } from '../platform/errors.ts';
import type { Context } from './context.ts';

/** How often one address may call: specification, "Limits". */
export const RATE_LIMITS = {
  create: [
    { name: 'create-second', points: 5, seconds: 1 },
    { name: 'create-minute', points: 60, seconds: 60 },
  ],
  other: [{ name: 'other-minute', points: 200, seconds: 60 }],
  /** Pages, their files and unknown addresses. The first page loads up to 20 files. docs/guide/limits.md. */
  page: [{ name: 'page-minute', points: 3000, seconds: 60 }],
  /** The admin API (docs/guide/limits.md). A page of the app sends about ten requests. */
  adminAddress: [{ name: 'admin-address-minute', points: 3000, seconds: 60 }],
  adminSession: [{ name: 'admin-session-minute', points: 600, seconds: 60 }],
  adminSignedOut: [{ name: 'admin-signed-out-minute', points: 60, seconds: 60 }],
  /** Browsers at one address that signed in before: each has its own share, all together no more than this. */
  adminDevices: [{ name: 'admin-devices-minute', points: 300, seconds: 60 }],
  /** Changes of a shop's settings: each keeps what changed in the audit log. */
  shopSettings: [{ name: 'shop-settings-minute', points: 10, seconds: 60 }],
  /** New and changed API clients of a shop: the same. Enough to create as many as a shop may have. */
  shopClients: [{ name: 'shop-clients-minute', points: 120, seconds: 60 }],
  /** One-time links: how often an address may ask for one, and try to use one. */
  linksAsked: [{ name: 'links-asked-hour', points: 20, seconds: 60 * 60 }],
  linksUsed: [{ name: 'links-minute', points: 30, seconds: 60 }],
} as const satisfies Record<string, RateWindows>;

/** What is refused from memory throws at once, before any work is begun. */
const limitBy =
  (gate: RateGate) =>
  (request: FastifyRequest, reply: FastifyReply): void | Promise<void> => {
    const state = gate(callerAddress(request));
    return state instanceof Promise
      ? state.then((later) => applyRateState(reply, later))
      : applyRateState(reply, state);
  };

export const rateLimits = ({ rateGate, clock }: Context) => ({
  create: limitBy(rateGate(RATE_LIMITS.create, clock)),
  other: limitBy(rateGate(RATE_LIMITS.other, clock)),
});

/** For pages. Each process counts for itself: files are also served while the database is away. */
export const pageLimitGate = () => {
  const limit = limitBy(memoryRateGate(RATE_LIMITS.page));
  return async (request: FastifyRequest, reply: FastifyReply): Promise<void> => limit(request, reply);
};
export type PageLimit = ReturnType<typeof pageLimitGate>;

/** The two generous limits keep one process free for others, so each counts for itself. Calls without a session count in all together. */
export const adminLimits = ({ rateGate, clock }: Context) => {
  const gates = {
    address: memoryRateGate(RATE_LIMITS.adminAddress),
    session: memoryRateGate(RATE_LIMITS.adminSession),
    signedOut: rateGate(RATE_LIMITS.adminSignedOut, clock),
    devices: rateGate(RATE_LIMITS.adminDevices, clock),
    settings: rateGate(RATE_LIMITS.shopSettings, clock),
    clients: rateGate(RATE_LIMITS.shopClients, clock),
    asked: rateGate(RATE_LIMITS.linksAsked, clock),
    used: rateGate(RATE_LIMITS.linksUsed, clock),
  };
  return async (by: keyof typeof gates, key: string): Promise<void> => {
    const { refused, msBeforeNext } = await gates[by](key);
    if (refused) throw rateLimited(msBeforeNext);
  };
};

const applyRateState = (reply: FastifyReply, state: RateState): void => {
  const { window, remaining, msBeforeNext, refused } = state;
  reply.headers({
    'ratelimit-limit': String(window.points),
    'ratelimit-remaining': String(remaining),
    'ratelimit-reset': String(Math.max(1, Math.ceil(msBeforeNext / 1000))),
  });
  if (refused) throw rateLimited(msBeforeNext);
};
