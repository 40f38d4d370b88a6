import { sql } from 'kysely';
import type { WebhookEventName } from '../../contract/webhook-event.ts';
import type { Base } from '../base.ts';
import type { Trx } from '../db/database.ts';
import { statement, statementsBy } from '../db/statements.ts';

/** A client that events can be sent to. */
export interface Reachable {
  id: string;
  shop_id: string;
  /** The creator whose place it has taken; null where it has taken none of those asked about. */
  replaces: string | null;
}

/** Which clients made the RMAs in question: these, or whichever made this RMA. */
type Creators = { ids: string[] } | { table: 'offline_repairs' | 'trade_returns'; rmaId: string };

interface Values {
  shopIds: string[];
  ids: string[];
  rmaId: string;
}

/** A client, or the one that replaced it: together they are as old as the first of them. */
const NOW = sql<string>`coalesce(replaced_by, id)`;
const IS_REACHABLE = sql`
  case when replaced_by is null and revoked_at is null and webhook_url is not null then 1 else 0 end`;

const reaching = statementsBy((table: string | null) =>
  statement(({ db, oneOf }, { shopIds, ids, rmaId }: Values) => {
    const isCreator =
      table === null
        ? oneOf('id', ids)
        : sql`= (select client_id from ${sql.table(table)} where id = ${rmaId})`;
    return db
      .selectFrom((eb) =>
        eb
          .selectFrom('api_clients')
          .select((of) => [NOW.as('id'), 'shop_id', of.fn.min('created_at').as('since')])
          .where(sql<boolean>`shop_id ${oneOf('id', shopIds)}`)
          .groupBy(['shop_id', NOW])
          .having(sql<number>`max(${IS_REACHABLE})`, '=', sql<number>`1`)
          .as('client'),
      )
      .leftJoin('api_clients as creator', (join) =>
        join.onRef('creator.replaced_by', '=', 'client.id').on(sql<boolean>`creator.id ${isCreator}`),
      )
      .select(['client.id', 'client.shop_id', 'creator.id as replaces'])
      .orderBy('client.since')
      .orderBy('client.id');
  }),
);

/** The clients of these shops that are active and have a URL, oldest first. */
export const reachableClients = async (
  { fill }: Pick<Base, 'fill'>,
  trx: Trx,
  shopIds: string[],
  creators: Creators,
): Promise<Reachable[]> => {
  const [table, values] =
    'ids' in creators
      ? [null, { ids: creators.ids, rmaId: '' }]
      : [creators.table, { ids: [], rmaId: creators.rmaId }];
  const { rows } = await trx.executeQuery(fill(reaching(table), { shopIds, ...values }));
  return rows;
};

/**
 * Who receives an event: the client that created the RMA, or the one that replaced it; where that cannot be reached, for a
 * trade return only, the shop's oldest client that can.
 */
export const recipientOf = (
  shopId: string,
  creatorId: string,
  event: WebhookEventName,
  reachable: Reachable[],
): string | null => {
  const own = reachable.filter(({ shop_id }) => shop_id === shopId);
  const creator = own.find(({ id, replaces }) => id === creatorId || replaces === creatorId);
  if (creator) return creator.id;
  return event.startsWith('trade_return.') ? (own[0]?.id ?? null) : null;
};
