import { type CompiledQuery, sql } from 'kysely';
import type { TimelineType } from '../../../contract/lifecycle.ts';
import type { Base } from '../../base.ts';
import type { Row } from '../../db/schema.ts';
import { statement, statementsBy } from '../../db/statements.ts';
import { type Counter, type Locking, selectCounters } from '../../shops/counters.ts';
import { type Good, isGoodIn, selectDangerous } from '../../shops/dangerous-goods.ts';
import { type Reachable, selectReachable } from '../../webhooks/outbox.ts';
import { keyName, selectAnswers } from '../idempotency.ts';
import { from, rowsById } from '../store.ts';
import type { ReturnRow, RmaTableName } from '../visibility.ts';

import { type Facts, KINDS, type Wanted } from './decide.ts';

interface LatestEntry {
  rma_id: string;
  type: TimelineType;
  at: number;
}

/** What each statement answers. */
interface Answers {
  counters: Counter[];
  repairs: ReturnRow[];
  tradeReturns: ReturnRow[];
  freeRepairs: { id: string }[];
  freeTradeReturns: { id: string }[];
  keptAnswers: Row<'idempotency_keys'>[];
  dangerous: Good[];
  reachable: Reachable[];
  latestEntries: LatestEntry[];
}

/** Ids of the rows that no other transaction has locked; these are locked from now on. */
const freeById = statementsBy((table: RmaTableName) =>
  statement(({ db, oneOf }, { ids }: { ids: string[] }) =>
    from(db, table)
      .select('id')
      .where(sql<boolean>`id ${oneOf('id', ids)}`)
      .forUpdate()
      .skipLocked(),
  ),
);

/** By RMA and type the newest entry behind what a person has seen. */
const selectLatest = statement(
  ({ rows }, { seen }: { seen: { rma_id: string; at: number }[] }) => sql<LatestEntry>`
    select timeline.rma_id, timeline.type, max(timeline.at) as at
    from ${rows('seen', { rma_id: 'id', at: 'integer' }, seen)}
    join timeline on timeline.rma_id = seen.rma_id and timeline.at > seen.at
    group by timeline.rma_id, timeline.type`,
);

const unique = (values: string[]): string[] => [...new Set(values)];

/**
 * The statements that a batch needs. The first locks the shops' counters: what the next ones read cannot change before the
 * commit. With `skip` nothing waits and no RMA is locked; with `wait` RMAs that another transaction has locked are found out.
 */
const queriesFor = (
  { fill }: Pick<Base, 'fill'>,
  batch: Wanted[],
  locking: Locking,
): [keyof Answers, CompiledQuery][] => {
  const changed = batch.filter(({ type }) => type !== 'create');
  const idsOf = (kind: RmaTableName) =>
    unique(changed.filter((each) => each.kind === kind).map(({ id }) => id));
  const [repairIds, tradeReturnIds] = [idsOf('offline_repairs'), idsOf('trade_returns')];
  const uses = batch.flatMap((each) => (each.type === 'create' ? (each.use ?? []) : []));
  const asked = uses.map(({ clientId, key }) => ({ client_id: clientId, key }));
  const goods = batch.flatMap(goodOf);
  const seen = batch.flatMap((each) =>
    'seen' in each && each.seen !== undefined ? { rma_id: each.id, at: each.seen } : [],
  );
  const receivers = receiversFor(batch);
  const isWaiting = locking === 'wait';
  const queries: [keyof Answers, boolean, () => CompiledQuery][] = [
    [
      'counters',
      true,
      () => fill(selectCounters(locking), { shopIds: unique(batch.map(({ caller }) => caller.shop.id)) }),
    ],
    [
      'freeRepairs',
      isWaiting && repairIds.length > 0,
      () => fill(freeById('offline_repairs'), { ids: repairIds }),
    ],
    [
      'freeTradeReturns',
      isWaiting && tradeReturnIds.length > 0,
      () => fill(freeById('trade_returns'), { ids: tradeReturnIds }),
    ],
    ['repairs', repairIds.length > 0, () => fill(rowsById('offline_repairs'), { ids: repairIds })],
    [
      'tradeReturns',
      tradeReturnIds.length > 0,
      () => fill(rowsById('trade_returns'), { ids: tradeReturnIds }),
    ],
    ['keptAnswers', asked.length > 0, () => fill(selectAnswers, { asked })],
    ['dangerous', goods.length > 0, () => fill(selectDangerous, { goods })],
    [
      'reachable',
      receivers.shopIds.length > 0,
      () => fill(selectReachable, { ...receivers, repairIds, tradeReturnIds }),
    ],
    ['latestEntries', seen.length > 0, () => fill(selectLatest, { seen: earliest(seen) })],
  ];
  return queries.flatMap(([name, isNeeded, query]) => (isNeeded ? [[name, query()]] : []));
};

const goodOf = (wanted: Wanted): Good[] => {
  const sku = wanted.type === 'create' ? KINDS[wanted.kind].skuOf(wanted.body) : null;
  return sku === null ? [] : [{ shop_id: wanted.caller.shop.id, sku }];
};

/** Several people may have seen one RMA at different times. */
const earliest = (seen: { rma_id: string; at: number }[]): { rma_id: string; at: number }[] => {
  const byId = new Map<string, number>();
  for (const { rma_id, at } of seen) byId.set(rma_id, Math.min(at, byId.get(rma_id) ?? at));
  return [...byId].map(([rma_id, at]) => ({ rma_id, at }));
};

/** A creator with a URL receives, which its key has told; a trade return may find another receiver in its shop (docs/contract.md). */
const receiversFor = (batch: Wanted[]): { shopIds: string[]; creatorIds: string[] } => {
  const asking = batch.filter(
    ({ type, kind, caller: { actor, hasWebhook } }) =>
      type === 'move' ||
      (type === 'create' && kind === 'trade_returns' && actor.type === 'API_CLIENT' && !hasWebhook),
  );
  return {
    shopIds: unique(asking.map(({ caller }) => caller.shop.id)),
    creatorIds: unique(
      asking.flatMap(({ type, caller }) => (type === 'create' ? (caller.actor.id ?? []) : [])),
    ),
  };
};

const creatorsWithWebhook = (batch: Wanted[]): Reachable[] =>
  batch.flatMap(({ type, caller: { actor, hasWebhook, shop } }) =>
    type === 'create' && hasWebhook && actor.id !== null
      ? [{ id: actor.id, shop_id: shop.id, replaces: null }]
      : [],
  );

const factsFrom = (batch: Wanted[], answers: Partial<Answers>, locking: Locking): Facts => {
  const { counters = [], keptAnswers = [], dangerous = [], reachable = [], latestEntries = [] } = answers;
  const { repairs = [], tradeReturns = [] } = answers;
  const free = new Set(
    [...(answers.freeRepairs ?? []), ...(answers.freeTradeReturns ?? [])].map(({ id }) => id),
  );
  const latest = new Map<string, Map<TimelineType, number>>();
  for (const { rma_id, type, at } of latestEntries)
    latest.set(rma_id, (latest.get(rma_id) ?? new Map<TimelineType, number>()).set(type, at));
  return {
    counters: new Map(counters.map((counter) => [counter.shop_id, counter])),
    rows: {
      offline_repairs: new Map(repairs.map((row) => [row.id, row])),
      trade_returns: new Map(tradeReturns.map((row) => [row.id, row])),
    },
    lockedRows: new Set(
      locking === 'wait'
        ? [...repairs, ...tradeReturns].map(({ id }) => id).filter((id) => !free.has(id))
        : [],
    ),
    keptAnswers: new Map(
      keptAnswers.map((kept) => [keyName({ clientId: kept.client_id, key: kept.key }), kept]),
    ),
    isDangerous: isGoodIn(dangerous),
    reachable: [...reachable, ...creatorsWithWebhook(batch)],
    latestEntries: latest,
  };
};

/** The statements, in the order in which they are to run, and what follows from their answers. */
export const reading = (ctx: Pick<Base, 'fill'>, batch: Wanted[], locking: Locking) => {
  const queries = queriesFor(ctx, batch, locking);
  return {
    queries: queries.map(([, query]) => query),
    factsFrom: (answers: object[][]): Facts =>
      factsFrom(batch, Object.fromEntries(queries.map(([name], i) => [name, answers[i]])), locking),
  };
};
