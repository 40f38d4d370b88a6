import type { ErrorBody, RefusedReturn } from '../../../contract/common.ts';
import type { Erasure, FindCustomer } from '../../../contract/personal-data.ts';
import { texts } from '../texts.ts';

export const returnsText: (count: number) => string = texts.personalData.returns;

/** What was typed is an email if it has an @, and a phone number otherwise. */
export const personFrom = (typed: string): FindCustomer =>
  typed.includes('@') ? { email: typed } : { phone: typed };

export const personText = ({ email, phone }: FindCustomer): string => email ?? phone ?? '';

export interface ErasureReport {
  erased: { id: string }[];
  refused: RefusedReturn[];
  /** How many could be erased, but were not: it was stopped before. */
  remaining: number;
}

/** The returns that the service refuses to erase; null for another error. */
const refusedIn = (error: unknown): RefusedReturn[] | null => {
  const { body } = error as { body?: ErrorBody | null };
  return body?.code === 'ERASE_REFUSED' ? (body.refused ?? []) : null;
};

/** One call erases at most 500 returns: calls until none is left, or until it is stopped. */
export const eraseAll = async (
  call: () => Promise<Erasure>,
  onProgress: (erased: number) => void,
  signal: AbortSignal,
): Promise<ErasureReport> => {
  const erased: ErasureReport['erased'] = [];
  for (;;) {
    try {
      const { returns, refused, remaining } = await call();
      erased.push(...returns);
      onProgress(erased.length);
      if (remaining === 0 || returns.length === 0 || signal.aborted) return { erased, refused, remaining };
    } catch (error) {
      const refused = refusedIn(error);
      if (refused) return { erased, refused, remaining: 0 };
      throw error;
    }
  }
};
