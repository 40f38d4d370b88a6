import type { FastifyReply, FastifyRequest } from 'fastify';
import { memoryRateGate } from '../db/rate-windows.ts';
import type { RateGate, RateState, RateWindows } from '../db/types.ts';
import { callerAddress } from '../http/requests.ts';
import { rateLimited } from '../platform/errors.ts';
import type { Context } from './context.ts';

/** The limits of calls from one address: specification, "Limits". */
export const RATE_LIMITS = {
  create: [
    { name: 'create-second', points: 5, seconds: 1 },
    { name: 'create-minute', points: 60, seconds: 60 },
  ],
  other: [{ name: 'other-minute', points: 200, seconds: 60 }],
  /** The limit of pages, their files and unknown paths. The first page loads up to 20 files (docs/guide/limits.md). */
  page: [{ name: 'page-minute', points: 3000, seconds: 60 }],
  /** The limit of the admin API (docs/guide/limits.md). A page of the app sends about ten requests. */
  adminAddress: [{ name: 'admin-address-minute', points: 3000, seconds: 60 }],
  adminSession: [{ name: 'admin-session-minute', points: 600, seconds: 60 }],
  adminSignedOut: [{ name: 'admin-signed-out-minute', points: 60, seconds: 60 }],
  /** The common limit of browsers at one address that signed in before, each of which also has its own limit. */
  adminDevices: [{ name: 'admin-devices-minute', points: 300, seconds: 60 }],
  /** The limit of changes of a shop's settings, since each one stores the change in the audit log. */
  shopSettings: [{ name: 'shop-settings-minute', points: 10, seconds: 60 }],
  /** The same for new and changed API clients. It is enough to create as many as a shop may have. */
  shopClients: [{ name: 'shop-clients-minute', points: 120, seconds: 60 }],
  /** The limits of requests for one-time links, and of attempts to use one, from one address. */
  linksAsked: [{ name: 'links-asked-hour', points: 20, seconds: 60 * 60 }],
  linksUsed: [{ name: 'links-minute', points: 30, seconds: 60 }],
} as const satisfies Record<string, RateWindows>;

/** A refusal that is known from memory throws immediately, before any work. */
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

/** Limits pages. Each process counts separately, since files are also served while the database is unavailable. */
export const pageLimitGate = () => {
  const limit = limitBy(memoryRateGate(RATE_LIMITS.page));
  return async (request: FastifyRequest, reply: FastifyReply): Promise<void> => limit(request, reply);
};
export type PageLimit = ReturnType<typeof pageLimitGate>;

/** The two generous limits protect one process, so each process counts separately. Calls without a session are counted across processes. */
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
