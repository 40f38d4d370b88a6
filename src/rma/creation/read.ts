import type { Base } from '../../base.ts';
import type { Trx } from '../../db/database.ts';
import { type Counters, lockCounters } from '../../shops/counters.ts';
import { findDangerous } from '../../shops/dangerous-goods.ts';
import { type Reachable, reachableClients } from '../../webhooks/recipient.ts';
import { lockKeys, type Memory } from '../idempotency.ts';
import type { Creation } from './creation.ts';

/** All that must be known to decide on a batch of creations. */
export interface Facts {
  memory: Memory;
  /** Without those that somebody else holds, where these are left out. */
  counters: Counters;
  isDangerous(shopId: string, sku: string): boolean;
}

/** What is to be held against the shops' dangerous-goods rules. */
export const goodsOf = (batch: Creation[]) =>
  batch.flatMap(({ caller, request: { sku } }) =>
    sku === undefined ? [] : [{ shop_id: caller.shop.id, sku }],
  );

const shopIdsOf = (batch: Creation[]): string[] => [...new Set(batch.map(({ caller }) => caller.shop.id))];

/** Reads the facts and holds them until the commit, with who can be told of it. */
export const readFacts = async (
  ctx: Base,
  trx: Trx,
  batch: Creation[],
  heldCounters: 'wait' | 'leave out',
): Promise<Facts & { reachable: Reachable[] }> => {
  const uses = batch.flatMap(({ use }) => use ?? []);
  const [memory, counters, isDangerous, reachable] = await Promise.all([
    lockKeys(ctx, trx, uses),
    lockCounters(ctx, trx, shopIdsOf(batch), heldCounters),
    findDangerous(ctx, trx, goodsOf(batch)),
    reachableFor(ctx, trx, batch),
  ]);
  return { memory, counters, isDangerous, reachable };
};

/** The creator receives, as its key has told already; only a trade return may find another receiver in its shop (decision 77). */
const reachableFor = async (ctx: Base, trx: Trx, batch: Creation[]): Promise<Reachable[]> => {
  const elsewhere = batch.filter(
    ({ caller: { actor, hasWebhook }, request: { kind } }) =>
      kind === 'trade_returns' && actor.type === 'API_CLIENT' && !hasWebhook,
  );
  const creators = batch.flatMap(({ caller: { actor, hasWebhook, shop } }) =>
    hasWebhook && actor.id !== null ? [{ id: actor.id, shop_id: shop.id, replaces: null }] : [],
  );
  if (elsewhere.length === 0) return creators;
  const ids = elsewhere.flatMap(({ caller: { actor } }) => actor.id ?? []);
  return [...(await reachableClients(ctx, trx, shopIdsOf(elsewhere), { ids })), ...creators];
};
