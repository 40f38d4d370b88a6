import { type CompiledQuery, sql } from 'kysely';
import { perKind, RETURN_KINDS, RETURN_TABLES, type ReturnTable } from '../../../contract/kinds.ts';
import type { TimelineType } from '../../../contract/lifecycle.ts';
import { statement, statementsBy } from '../../db/statements.ts';
import type { Statement } from '../../db/types.ts';
import type { Core } from '../../platform/core.ts';
import { type Locking, selectCounters } from '../../shops/counters.ts';
import { type Good, selectDangerous } from '../../shops/dangerous-goods.ts';
import { selectReceivers } from '../../webhooks/outbox.ts';
import { type KeyUse, keyName, selectStoredResponses } from '../idempotency.ts';
import { KINDS } from '../kinds/kinds.ts';
import { from, type ReturnRow, rowsById } from '../store.ts';
import type { Facts, Wanted } from './decide.ts';

/** Locks the rows that no other transaction has locked, and returns their ids. */
const freeById = statementsBy((table: ReturnTable) =>
  statement(({ db, oneOf }, { ids }: { ids: string[] }) =>
    from(db, table)
      .select('id')
      .where(sql<boolean>`id ${oneOf('id', ids)}`)
      .forUpdate()
      .skipLocked(),
  ),
);

interface SeenEntry {
  rma_id: string;
  at: number;
}

/** The newest entry of each return and type after the time at which a person saw the return. */
const selectLatest = statement(
  ({ rows }, { seen }: { seen: SeenEntry[] }) => sql<SeenEntry & { type: TimelineType }>`
    select timeline.rma_id, timeline.type, max(timeline.at) as at
    from ${rows('seen', { rma_id: 'id', at: 'integer' }, seen)}
    join timeline on timeline.rma_id = seen.rma_id and timeline.at > seen.at
    group by timeline.rma_id, timeline.type`,
);

const unique = (values: string[]): string[] => [...new Set(values)];

const shopIdsOf = (batch: Wanted[]): string[] => unique(batch.map(({ caller }) => caller.shop.id));

const goodsOf = (batch: Wanted[]): Good[] =>
  batch.flatMap((wanted) => {
    const sku = wanted.type === 'create' ? KINDS[wanted.kind].skuOf(wanted.body) : null;
    return sku === null ? [] : { shop_id: wanted.caller.shop.id, sku };
  });

const usedKeys = (batch: Wanted[]): KeyUse[] =>
  batch.flatMap((each) => (each.type === 'create' && each.use) || []);

/** Several people may have seen a return at different times: entries after the earliest of these are read. */
const seenOf = (batch: Wanted[]): SeenEntry[] =>
  batch.flatMap((each) =>
    'seen' in each && each.seen !== undefined ? { rma_id: each.id, at: each.seen } : [],
  );

/** Whether the event may have another receiver than the caller's, or the caller has no key (docs/contract.md). */
const needsReceivers = ({ type, kind, caller: { actor, receiver } }: Wanted): boolean =>
  (type !== 'create' && type !== 'note') ||
  (type === 'create' && RETURN_KINDS[kind].hasFallbackReceiver && actor.type === 'API_CLIENT' && !receiver);

const emptyFacts = (batch: Wanted[]): Facts => ({
  counters: new Map(),
  rows: perKind(() => new Map()),
  lockedRows: new Set(),
  storedResponses: new Map(),
  dangerous: [],
  receivers: batch.flatMap(({ type, caller }) => (type === 'create' && caller.receiver) || []),
  laterEntries: [],
});

/**
 * The statements that a batch needs, in their order, and the facts that follow from their rows. The
 * first locks the shops' counters, so that what the next ones read cannot change before the commit. With `skip` nothing waits and no
 * return is locked; with `wait` the batch finds out which returns another transaction has locked.
 */
export class BatchReading {
  readonly queries: CompiledQuery[] = [];
  readonly #takers: ((rows: never[]) => void)[] = [];
  readonly #fill: Core['fill'];
  readonly #facts: Facts;

  constructor({ fill }: Pick<Core, 'fill'>, batch: Wanted[], locking: Locking) {
    const facts = emptyFacts(batch);
    this.#fill = fill;
    this.#facts = facts;
    this.#read(batch, selectCounters(locking), { shopIds: shopIdsOf(batch) }, (counters) => {
      facts.counters = new Map(counters.map((counter) => [counter.shop_id, counter]));
    });
    for (const table of RETURN_TABLES) this.#readRows(batch, table, locking);
    const asked = usedKeys(batch);
    this.#read(asked, selectStoredResponses, { asked }, (kept) => {
      facts.storedResponses = new Map(kept.map((each) => [keyName(each), each]));
    });
    const goods = goodsOf(batch);
    this.#read(goods, selectDangerous, { goods }, (dangerous) => {
      facts.dangerous = dangerous;
    });
    const withReceivers = batch.filter(needsReceivers);
    this.#read(withReceivers, selectReceivers, { shopIds: shopIdsOf(withReceivers) }, (receivers) => {
      facts.receivers = [...receivers, ...facts.receivers];
    });
    const seen = seenOf(batch);
    this.#read(seen, selectLatest, { seen }, (entries) => {
      facts.laterEntries = entries;
    });
  }

  factsFrom(results: object[][]): Facts {
    for (const [i, take] of this.#takers.entries()) take((results[i] ?? []) as never[]);
    return this.#facts;
  }

  #readRows(batch: Wanted[], kind: ReturnTable, locking: Locking): void {
    const own = batch.filter((each) => each.type !== 'create' && each.kind === kind);
    const ids = unique(own.map(({ id }) => id));
    const facts = this.#facts;
    let free = new Set<string>();
    if (locking === 'wait')
      this.#read(ids, freeById(kind), { ids }, (found) => {
        free = new Set(found.map(({ id }) => id));
      });
    this.#read(ids, rowsById(kind), { ids }, (found) => {
      facts.rows[kind] = new Map((found as ReturnRow[]).map((row) => [row.id, row]));
      const locked = locking === 'wait' ? found.filter(({ id }) => !free.has(id)) : [];
      facts.lockedRows = new Set([...facts.lockedRows, ...locked.map(({ id }) => id)]);
    });
  }

  /** Adds a statement unless there is nothing to look up. */
  #read<Values, Row>(
    about: readonly unknown[],
    what: Statement<Values, Row>,
    values: Values,
    take: (rows: Row[]) => void,
  ): void {
    if (about.length === 0) return;
    this.queries.push(this.#fill(what, values));
    this.#takers.push(take);
  }
}
