import { randomBytes } from 'node:crypto';
import { BASE_PATH } from '../../contract/common.ts';
import { CreateOfflineRepair, OfflineRepairActionBody } from '../../contract/offline-repair.ts';
import { CreateTradeReturn } from '../../contract/trade-return.ts';
import { createClient } from '../api-clients/actions.ts';
import { type Caller, OPERATOR } from '../caller.ts';
import type { Context } from '../context.ts';
import { createOfflineRepair, moveOfflineRepair } from '../offline-repairs/actions.ts';
import { createShop } from '../shops/actions.ts';
import { changeDangerousGoods } from '../shops/dangerous-goods-actions.ts';
import { createUser } from '../staff/users.ts';
import { createTradeReturn, moveTradeReturn } from '../trade-returns/actions.ts';
import { pick, REPAIR_JOURNEYS, REPAIR_STEPS, repair, TRADE_JOURNEYS, tradeReturn } from './demo-data.ts';

const REPAIRS = 40;
const TRADE_RETURNS = 18;
const HOUR_MS = 3_600_000;

/** A shop with people, rules and returns in every stage, spread over the past days. */
export const demo = async (ctx: Context) => {
  const tag = randomBytes(3).toString('hex');
  const shop = await createShop(ctx, OPERATOR, { name: `Demo shop ${tag}`, plan: 'SCALE' });
  await changeDangerousGoods(ctx, OPERATOR, shop.id, { add: ['BATT-*'], remove: [] });
  const password = randomBytes(9).toString('base64url');
  const email = `admin-${tag}@demo.example`;
  const name = 'Robin Marsh';
  const user = await createUser(ctx, OPERATOR, { shopId: shop.id, email, name, role: 'ADMIN', password });
  const client = await createClient(ctx, OPERATOR, { shopId: shop.id, name: 'Demo till', webhookUrl: null });
  const till: Caller = { shop, actor: { type: 'API_CLIENT', id: client.id, name: client.name } };
  const staff: Caller = { shop, actor: { type: 'USER', id: user.id, name } };

  const now = ctx.clock.now();
  /** The clock as it stood at a step in the life of the ith of so many, the last of which is the newest. */
  const past =
    (i: number, count: number, hoursApart: number) =>
    (step: number): Context => {
      const at = Math.min(now, now - (count - i) * hoursApart * HOUR_MS + step * 3 * HOUR_MS);
      return { ...ctx, clock: { now: () => at } };
    };
  for (let i = 0; i < REPAIRS; i++) {
    const at = past(i, REPAIRS, 9);
    const { answer } = await createOfflineRepair(at(0), till, CreateOfflineRepair.parse(repair(i)));
    for (const [step, action] of pick(REPAIR_JOURNEYS, i).entries()) {
      const body = OfflineRepairActionBody[action].parse(REPAIR_STEPS[action](i));
      await moveOfflineRepair(at(step + 1), till, answer.id, action, body as never);
    }
  }
  for (let i = 0; i < TRADE_RETURNS; i++) {
    const at = past(i, TRADE_RETURNS, 20);
    const { answer } = await createTradeReturn(at(0), till, CreateTradeReturn.parse(tradeReturn(i)));
    for (const [step, action] of pick(TRADE_JOURNEYS, i).entries())
      await moveTradeReturn(at(step + 1), staff, answer.id, action, null);
  }

  return {
    shop: shop.name,
    shopId: shop.id,
    admin: `${ctx.config.publicUrl}/admin`,
    email,
    password,
    apiKey: client.apiKey,
    webhookSecret: client.webhookSecret,
    try: `curl -H 'X-Api-Key: ${client.apiKey}' '${ctx.config.publicUrl}${BASE_PATH}/offline-repairs?limit=3'`,
  };
};
