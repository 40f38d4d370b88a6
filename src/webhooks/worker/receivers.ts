import { sql } from 'kysely';
import type { Plan } from '../../../contract/admin-people.ts';
import type { Context } from '../../context.ts';
import { statement } from '../../db/statements.ts';
import { hasApi } from '../../shops/plans.ts';
import { DROPPED_BECAUSE } from '../drop-reasons.ts';

/** Where a client's deliveries go now, or why they go nowhere. */
export type Receiver = {
  shopId: string;
  /** The client that took its place: what waits is handed over to it. */
  replacedBy: string | null;
} & ({ url: string; sealedSecret: string; unreachable: null } | { unreachable: string });

const clientsById = statement(({ db, oneOf }, { clientIds }: { clientIds: string[] }) =>
  db
    .selectFrom('api_clients as client')
    .innerJoin('shops as shop', 'shop.id', 'client.shop_id')
    // Always one step: a damaged row must not send deliveries round in a circle, or to another shop.
    .leftJoin('api_clients as replacement', (join) =>
      join
        .onRef('replacement.id', '=', 'client.replaced_by')
        .onRef('replacement.shop_id', '=', 'client.shop_id')
        .on('replacement.replaced_by', 'is', null),
    )
    .select(['client.id', 'client.shop_id', 'client.webhook_url', 'client.webhook_secret'])
    .select(['client.revoked_at', 'replacement.id as replaced_by', 'shop.plan'])
    .where(sql<boolean>`client.id ${oneOf('id', clientIds)}`),
);

/** Where these clients' deliveries go now: a new URL, a revocation and a new plan count from the next attempt on. */
export const receiversById = async (
  { withoutFsync, fill }: Pick<Context, 'withoutFsync' | 'fill'>,
  clientIds: string[],
): Promise<Map<string, Receiver>> => {
  const { rows } = await withoutFsync.executeQuery(fill(clientsById, { clientIds }));
  return new Map(rows.map((row) => [row.id, receiverFrom(row)]));
};

const receiverFrom = (row: {
  shop_id: string;
  webhook_url: string | null;
  webhook_secret: string;
  revoked_at: number | null;
  replaced_by: string | null;
  plan: string;
}): Receiver => {
  const about = { shopId: row.shop_id, replacedBy: row.replaced_by };
  if (row.revoked_at !== null) return { ...about, unreachable: DROPPED_BECAUSE.revoked };
  if (row.webhook_url === null) return { ...about, unreachable: DROPPED_BECAUSE.noUrl };
  if (!hasApi({ plan: row.plan as Plan })) return { ...about, unreachable: DROPPED_BECAUSE.noApi };
  return { ...about, url: row.webhook_url, sealedSecret: row.webhook_secret, unreachable: null };
};
