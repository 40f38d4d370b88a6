import type { TimelineType } from '../../contract/lifecycle.ts';
import type { Trx } from '../db/database.ts';
import { ServiceError } from '../errors.ts';

/** What a person saw when they decided: entries of these types that came later refuse what they decided on. */
export interface Seen {
  at: number;
  entries: readonly TimelineType[];
}

/** Where nothing was seen there is nothing to compare with. */
export const seenAt = (at: number | undefined, entries: readonly TimelineType[]): Seen | undefined =>
  at === undefined ? undefined : { at, entries };

/** For an RMA that is locked: nobody can add an entry before the transaction ends. */
export const mustBeUnchanged = async (
  trx: Trx,
  { id, updated_at }: { id: string; updated_at: number },
  { at, entries }: Seen,
): Promise<void> => {
  if (updated_at <= at) return;
  const later = await trx
    .selectFrom('timeline')
    .select('id')
    .where('rma_id', '=', id)
    .where('at', '>', at)
    .where('type', 'in', entries)
    .limit(1)
    .executeTakeFirst();
  if (later) throw new ServiceError('EDIT_CONFLICT');
};
