import { useQuery } from '@tanstack/react-query';
import { overviewQuery } from '../overview-query.ts';
import { useSession } from './session.ts';

/** Why something cannot be done now; null where it can. */
interface Blocked {
  changing: string | null;
  creating: string | null;
}

const READ_ONLY = 'The subscription is inactive, so nothing can be changed.';
const FULL = 'All returns of this month are used, so no more can be made.';

/** What the shop's subscription and allowance leave to be done. The service decides; this spares people the attempt. */
export const useBlocked = (): Blocked => {
  const { shop } = useSession();
  const { data } = useQuery(overviewQuery);
  if (shop.subscription === 'inactive') return { changing: READ_ONLY, creating: READ_ONLY };
  const month = data?.month;
  const isFull = month !== undefined && month.limit !== null && month.used >= month.limit;
  return { changing: null, creating: isFull ? FULL : null };
};
