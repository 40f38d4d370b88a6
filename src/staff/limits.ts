import type { Context } from '../context.ts';
import type { RateGate, RateWindows } from '../db/database.ts';
import { rateLimited } from '../errors.ts';
import { sha256 } from '../secrets.ts';

/** How often people outside may try, for what needs no session (decision 174). */
const WINDOWS = {
  /** Links looked at or used, by address. */
  links: [{ name: 'links-minute', points: 30, seconds: 60 }],
  /** Links asked for, by address. */
  asked: [{ name: 'links-asked-hour', points: 20, seconds: 60 * 60 }],
  /** Links mailed, by e-mail. */
  mailed: [{ name: 'links-mailed-hour', points: 3, seconds: 60 * 60 }],
  /** Mails that Admins cause, by shop: their shop's name must not become a way to send advertisements. */
  byShop: [{ name: 'links-shop-hour', points: 100, seconds: 60 * 60 }],
} as const satisfies Record<string, RateWindows>;

export const linkLimits = ({ rateGate, clock }: Pick<Context, 'rateGate' | 'clock'>) => {
  const refuseOften = (gate: RateGate) => async (address: string) => {
    const { refused, msBeforeNext } = await gate(address);
    if (refused)
      throw rateLimited(
        msBeforeNext,
        (waitS) => `Too many tries from here: try again in ${waitS < 120 ? 'a minute or two' : 'an hour'}.`,
      );
  };
  const mailed = rateGate(WINDOWS.mailed, clock);
  const byShop = rateGate(WINDOWS.byShop, clock);
  return {
    beforeLink: refuseOften(rateGate(WINDOWS.links, clock)),
    beforeAsking: refuseOften(rateGate(WINDOWS.asked, clock)),
    /** Beyond it links are made and shown, and not mailed. */
    mayMailFor: async (shopId: string): Promise<boolean> => !(await byShop(shopId)).refused,
    /** Hashed, so that the counters hold no personal data. */
    mayMail: async (email: string): Promise<boolean> => !(await mailed(sha256(email))).refused,
  };
};
