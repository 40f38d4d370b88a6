import { randomBytes } from 'node:crypto';
import { BASE_PATH } from '../../contract/common.ts';
import { CreateOfflineRepair, OfflineRepairActionBody } from '../../contract/offline-repair.ts';
import { CreateTradeReturn } from '../../contract/trade-return.ts';
import { createClient } from '../api-clients/actions.ts';
import { type Caller, OPERATOR } from '../caller.ts';
import type { Context } from '../context.ts';
import { knownAddress } from '../greeting.ts';
import { assignOfflineRepair, createOfflineRepair, moveOfflineRepair } from '../offline-repairs/actions.ts';
import { changeDangerousGoods, createShop } from '../shops/actions.ts';
import { replaceTargets } from '../shops/target-days.ts';
import { createUser } from '../staff/users.ts';
import { createTradeReturn, moveTradeReturn } from '../trade-returns/actions.ts';
import {
  pick,
  REPAIR_JOURNEYS,
  REPAIR_STEPS,
  repair,
  TARGET_DAYS,
  TRADE_JOURNEYS,
  tradeReturn,
} from './demo-data.ts';

const REPAIRS = 40;
const TRADE_RETURNS = 18;
const HOUR_MS = 3_600_000;

interface Step {
  at: number;
  take(at: Context): Promise<void>;
}

/** The steps of the ith of so many returns, the last of which is the newest. Each is given the return's id and gives it on. */
const lifeOf = (
  now: number,
  { i, count, hoursApart }: { i: number; count: number; hoursApart: number },
  steps: ((at: Context, id: string) => Promise<string>)[],
): Step[] => {
  const begunAt = now - (count - i) * hoursApart * HOUR_MS;
  let id = '';
  return steps.map((step, n) => ({
    at: Math.min(now, begunAt + n * 3 * HOUR_MS),
    async take(at) {
      id = await step(at, id);
    },
  }));
};

/** A shop with people, rules and returns in every stage, spread over the past days. */
export const demo = async (ctx: Context) => {
  const tag = randomBytes(3).toString('hex');
  const shop = await createShop(ctx, OPERATOR, { name: `Demo shop ${tag}`, plan: 'SCALE' });
  await changeDangerousGoods(ctx, OPERATOR, shop.id, { add: ['BATT-*'], remove: [] });
  const password = randomBytes(9).toString('base64url');
  const email = `admin-${tag}@demo.example`;
  const name = 'Robin Marsh';
  const user = await createUser(ctx, OPERATOR, { shopId: shop.id, email, name, role: 'ADMIN', password });
  const colleague = await createUser(ctx, OPERATOR, {
    shopId: shop.id,
    email: `sam-${tag}@demo.example`,
    name: 'Sam Okoro',
    role: 'STAFF',
    password: randomBytes(9).toString('base64url'),
  });
  await replaceTargets(ctx, OPERATOR, shop.id, { targets: TARGET_DAYS });
  /** Some of the returns are nobody's yet. */
  const assignees = [user.id, colleague.id, null];
  const client = await createClient(ctx, OPERATOR, { shopId: shop.id, name: 'Demo till', webhookUrl: null });
  const till: Caller = { shop, actor: { type: 'API_CLIENT', id: client.id, name: client.name } };
  const staff: Caller = { shop, actor: { type: 'USER', id: user.id, name } };

  const now = ctx.clock.now();
  const repairs = Array.from({ length: REPAIRS }, (_, i) =>
    lifeOf(now, { i, count: REPAIRS, hoursApart: 9 }, [
      async (at) => (await createOfflineRepair(at, till, CreateOfflineRepair.parse(repair(i)))).answer.id,
      async (at, id) => (await assignOfflineRepair(at, staff, id, pick(assignees, i))).id,
      ...pick(REPAIR_JOURNEYS, i).map((action) => async (at: Context, id: string) => {
        const body = OfflineRepairActionBody[action].parse(REPAIR_STEPS[action](i));
        return (await moveOfflineRepair(at, till, id, action, body as never)).id;
      }),
    ]),
  );
  const tradeReturns = Array.from({ length: TRADE_RETURNS }, (_, i) =>
    lifeOf(now, { i, count: TRADE_RETURNS, hoursApart: 20 }, [
      async (at) => (await createTradeReturn(at, till, CreateTradeReturn.parse(tradeReturn(i)))).answer.id,
      ...pick(TRADE_JOURNEYS, i).map(
        (action) => async (at: Context, id: string) =>
          (await moveTradeReturn(at, staff, id, action, null)).id,
      ),
    ]),
  );
  // In the order of time: a shop's changes never go back in it (decision 143).
  const steps = [...repairs, ...tradeReturns].flat().toSorted((one, other) => one.at - other.at);
  for (const { at, take } of steps) await take({ ...ctx, clock: { now: () => at } });

  const url = await knownAddress(ctx);
  return {
    shop: shop.name,
    shopId: shop.id,
    admin: `${url}/admin`,
    email,
    password,
    apiKey: client.apiKey,
    webhookSecret: client.webhookSecret,
    try: `curl -H 'X-Api-Key: ${client.apiKey}' '${url}${BASE_PATH}/offline-repairs?limit=3'`,
  };
};
