import type { Caller } from '../caller.ts';
import { type Context, onePer } from '../context.ts';
import { conveyor } from '../db/conveyor.ts';
import type { Insertion, Lane, Trx } from '../db/database.ts';
import { gather } from '../db/gather.ts';
import type { Row } from '../db/tables.ts';
import { ServiceError } from '../errors.ts';
import { newId } from '../ids.ts';
import { keepCounters, lockCounters, takePlace } from '../shops/allowance.ts';
import { findDangerous } from '../shops/dangerous-goods.ts';
import { mustBeActive } from '../shops/plans.ts';
import type { Event, EventSubject } from '../webhooks/outbox.ts';
import { type Reachable, reachableClients } from '../webhooks/recipient.ts';
import { type Created, type KeyUse, keysInUse, keyUse, lockKeys, remember } from './idempotency.ts';
import { type Change, record } from './record.ts';
import type { RmaTableName } from './visibility.ts';

/** What both kinds of RMA begin with. */
interface NewRma {
  id: string;
  shop_id: string;
  client_id: string | null;
  number: number;
  external_ref: string | null;
  external_source: string | null;
  created_at: number;
  updated_at: number;
}

interface Made<Table extends RmaTableName, Answer> {
  row: Row<Table> & EventSubject;
  answer: Answer;
  event: Event;
  note?: string | null;
  data?: Record<string, unknown>;
}

interface CreateRequest<Table extends RmaTableName, Answer> {
  kind: Table;
  /** The collection's path, so that the same key on the other kind is another request. */
  path: string;
  body: { externalRef: string | null; externalSource: string | null };
  key: string | undefined;
  /** To be held against the shop's dangerous-goods rules. */
  sku?: string;
  make(rma: NewRma, isDangerous: boolean): Made<Table, Answer>;
}

const KINDS: RmaTableName[] = ['offline_repairs', 'trade_returns'];

/** A creation that waits for its turn. */
interface Creation {
  caller: Caller;
  request: CreateRequest<RmaTableName, unknown>;
  use: KeyUse | null;
  nowMs: number;
}

/** Creates an RMA of either kind: a place in the allowance, a number, the row, its first entry and event, all or nothing. */
export const createRma = async <Table extends RmaTableName, Answer>(
  ctx: Context,
  caller: Caller,
  request: CreateRequest<Table, Answer>,
): Promise<Created<Answer>> => {
  mustBeActive(caller.shop);
  const { actor } = caller;
  const { key, path, body } = request;
  const use = key === undefined || actor.id === null ? null : keyUse(actor.id, key, path, body);
  const creation = {
    caller,
    request: request as unknown as Creation['request'],
    use,
    nowMs: ctx.clock.now(),
  };
  const { alone, create } = creations(ctx);
  return (await alone(use, () => create(creation))) as Created<Answer>;
};

const creations = onePer((ctx) => {
  const lane = ctx.lane();
  return {
    alone: keysInUse(),
    create: conveyor(
      (batch: Creation[], sent) => createAll(ctx, (work) => lane(work, sent), batch, patientCreator(ctx)),
      { most: ctx.laneful },
    ),
  };
});

type Create = (creation: Creation) => Promise<Created<unknown>>;

/** For shops whose counters somebody else holds: each shop's creations wait by themselves, and hold nobody up. */
const patientCreator = onePer((ctx) => {
  const ofShop = new Map<string, { create: Create; waiting: number }>();
  return async (creation: Creation): Promise<Created<unknown>> => {
    const { id } = creation.caller.shop;
    const shop = ofShop.get(id) ?? {
      create: gather((batch: Creation[]) => createAll(ctx, ctx.atomically, batch, null), {
        most: ctx.laneful,
        sideBySide: 1,
      }),
      waiting: 0,
    };
    ofShop.set(id, shop);
    shop.waiting += 1;
    try {
      return await shop.create(creation);
    } finally {
      shop.waiting -= 1;
      if (shop.waiting === 0) ofShop.delete(id);
    }
  };
});

/** Who creates is who receives, as its key has told already; only a trade return may find another receiver in its shop. */
const receiversOf = async (ctx: Context, trx: Trx, batch: Creation[]): Promise<Reachable[]> => {
  const elsewhere = batch.filter(
    ({ caller: { actor, hasWebhook }, request: { kind } }) =>
      kind === 'trade_returns' && actor.type === 'API_CLIENT' && !hasWebhook,
  );
  const creators = batch.flatMap(({ caller: { actor, hasWebhook, shop } }) =>
    hasWebhook && actor.id !== null ? [{ id: actor.id, shop_id: shop.id }] : [],
  );
  if (elsewhere.length === 0) return creators;
  return [...(await reachableClients(ctx, trx, shopIdsOf(elsewhere))), ...creators];
};

const shopIdsOf = (batch: Creation[]): string[] => [...new Set(batch.map(({ caller }) => caller.shop.id))];

/**
 * Many creations in one transaction: all that is to be known is read and held first, then everything is written. Creations
 * for shops whose counters somebody else holds are handed to `later`; without it, those are waited for.
 */
const createAll = async (
  ctx: Context,
  atomically: Lane,
  batch: Creation[],
  later: Create | null,
): Promise<(Created<unknown> | Promise<Created<unknown>> | Error)[]> => {
  const goods = batch.flatMap(({ caller, request: { sku } }) =>
    sku === undefined ? [] : [{ shop_id: caller.shop.id, sku }],
  );
  const { outcomes, receivers } = await atomically(async (trx) => {
    const [memory, counters, isDangerous, reachable] = await Promise.all([
      lockKeys(
        ctx,
        trx,
        batch.flatMap(({ use }) => use ?? []),
      ),
      lockCounters(ctx, trx, shopIdsOf(batch), later ? 'leave out' : 'wait'),
      findDangerous(ctx, trx, goods),
      receiversOf(ctx, trx, batch),
    ]);

    const rows: Record<RmaTableName, object[]> = { offline_repairs: [], trade_returns: [] };
    const changes: Change[] = [];
    const answers: { use: KeyUse; answer: unknown; nowMs: number }[] = [];

    const createOne = ({ caller, request, use, nowMs }: Creation): Created<unknown> | null => {
      const { shop, actor } = caller;
      const first = use && memory.recall(use, nowMs);
      if (first) return { answer: first, replayed: true };
      const counter = counters.get(shop.id);
      if (!counter) return null;
      const rma: NewRma = {
        id: newId(nowMs),
        shop_id: shop.id,
        client_id: actor.type === 'API_CLIENT' ? actor.id : null,
        number: takePlace(counter, shop, nowMs),
        external_ref: request.body.externalRef,
        external_source: request.body.externalSource,
        created_at: nowMs,
        updated_at: nowMs,
      };
      const dangerous = request.sku !== undefined && isDangerous(shop.id, request.sku);
      const { row, answer, event, note = null, data = {} } = request.make(rma, dangerous);
      rows[request.kind].push(row);
      const { kind } = request;
      changes.push({
        caller,
        kind,
        rma: row,
        type: 'CREATED',
        at: nowMs,
        fromStatus: null,
        note,
        data,
        event,
      });
      if (use) answers.push({ use, answer, nowMs });
      return { answer, replayed: false };
    };
    const outcomes = batch.map((creation) => {
      try {
        return createOne(creation);
      } catch (refusal) {
        if (refusal instanceof ServiceError) return refusal;
        throw refusal;
      }
    });

    if (changes.length === 0) return { writes: [], result: { outcomes, receivers: new Set<string>() } };
    const { writes, receivers } = record(ctx, trx, changes, reachable);
    const insertions = KINDS.map((table) => ({ table, rows: rows[table] }) as Insertion);
    return {
      writes: [
        ...insertions.filter(({ rows }) => rows.length > 0),
        ...writes,
        keepCounters(ctx, trx, counters),
        ...remember(ctx, trx, answers),
      ],
      result: { outcomes, receivers },
    };
  });
  for (const receiver of receivers) ctx.wake(receiver);
  // Only now, when the transaction has ended that holds their keys.
  return batch.map(
    (creation, i) => outcomes[i] ?? (later ? later(creation) : new Error('a shop without counters')),
  );
};
