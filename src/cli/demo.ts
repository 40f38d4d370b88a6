import { randomBytes } from 'node:crypto';
import { BASE_PATH } from '../../contract/common.ts';
import type { OfflineRepairAction } from '../../contract/lifecycle.ts';
import { CreateOfflineRepair, OfflineRepairActionBody } from '../../contract/offline-repair.ts';
import { createClient } from '../api-clients/actions.ts';
import { type Caller, OPERATOR } from '../caller.ts';
import type { Context } from '../context.ts';
import { createOfflineRepair, moveOfflineRepair } from '../offline-repairs/actions.ts';
import { createShop } from '../shops/actions.ts';
import { changeDangerousGoods } from '../shops/dangerous-goods-actions.ts';
import { createUser } from '../staff/users.ts';

const REPAIRS = 40;
const HOUR_MS = 3_600_000;

const PEOPLE = [
  'Ada Pereira',
  'Bo Lindqvist',
  'Chidi Okafor',
  'Dana Kowalski',
  'Elif Yilmaz',
  'Farid Haddad',
  'Grace Muller',
];
const ITEMS = [
  { sku: 'KETTLE-17', productName: 'Kettle 1.7 l', price: 49.95, fault: 'Does not heat up any more' },
  {
    sku: 'BATT-DRILL-18V',
    productName: 'Drill battery 18 V',
    price: 89,
    fault: 'Gets hot and swells while charging',
  },
  { sku: 'LAMP-OAK', productName: 'Oak table lamp', price: 120.5, fault: 'Flickers, then goes out' },
  { sku: 'SPEAKER-MINI', productName: 'Mini speaker', price: 64.9, fault: 'No sound on the left side' },
  { sku: 'BLENDER-PRO', productName: 'Blender Pro', price: 179, fault: 'The jug leaks at its base' },
];

/** How far each repair has come: they take turns. */
const JOURNEYS: OfflineRepairAction[][] = [
  [],
  ['begin-diagnostics'],
  ['tracking', 'begin-repair'],
  ['begin-repair', 'resolve'],
  ['tracking', 'begin-repair', 'resolve', 'close'],
];
const BODIES: Record<OfflineRepairAction, (i: number) => object> = {
  tracking: (i) => ({ trackingNumber: `JD01460000${i}`, carrierName: 'DHL' }),
  'begin-diagnostics': () => ({ notes: 'On the bench' }),
  'begin-repair': (i) => ({ assignedToId: `tech-${(i % 3) + 1}`, repairNotes: 'Part ordered' }),
  resolve: (i) => ({ offlineDisposition: i % 2 ? 'RESTOCK_MASTER' : 'WRITE_OFF' }),
  close: () => ({}),
};

const pick = <Value>(values: readonly Value[], i: number): Value => values[i % values.length] as Value;

/** A shop with people, rules and repairs in every stage, spread over the past days. */
export const demo = async (ctx: Context) => {
  const tag = randomBytes(3).toString('hex');
  const shop = await createShop(ctx, OPERATOR, { name: `Demo shop ${tag}`, plan: 'SCALE' });
  await changeDangerousGoods(ctx, OPERATOR, shop.id, { add: ['BATT-*'], remove: [] });
  const password = randomBytes(9).toString('base64url');
  const email = `admin-${tag}@demo.example`;
  await createUser(ctx, OPERATOR, { shopId: shop.id, email, role: 'ADMIN', password });
  const client = await createClient(ctx, OPERATOR, { shopId: shop.id, name: 'Demo till', webhookUrl: null });
  const caller: Caller = { shop, actor: { type: 'API_CLIENT', id: client.id, name: client.name } };

  const now = ctx.clock.now();
  for (let i = 0; i < REPAIRS; i++) {
    const startMs = now - (REPAIRS - i) * 9 * HOUR_MS;
    const at = (step: number): Context => ({
      ...ctx,
      clock: { now: () => Math.min(now, startMs + step * 3 * HOUR_MS) },
    });
    const { answer } = await createOfflineRepair(at(0), caller, CreateOfflineRepair.parse(repairBody(i)));
    for (const [step, action] of pick(JOURNEYS, i).entries())
      await moveOfflineRepair(
        at(step + 1),
        caller,
        answer.id,
        action,
        OfflineRepairActionBody[action].parse(BODIES[action](i)) as never,
      );
  }

  const url = `${ctx.config.publicUrl}${BASE_PATH}`;
  return {
    shop: shop.name,
    shopId: shop.id,
    admin: `${ctx.config.publicUrl}/admin`,
    email,
    password,
    apiKey: client.apiKey,
    webhookSecret: client.webhookSecret,
    try: `curl -H 'X-Api-Key: ${client.apiKey}' '${url}/offline-repairs?limit=3'`,
  };
};

const repairBody = (i: number) => {
  const { fault, ...item } = pick(ITEMS, i);
  const customerName = pick(PEOPLE, i);
  return {
    orderNumber: `SO-${10_000 + i * 7}`,
    customerEmail: `${customerName.toLowerCase().replace(' ', '.')}@example.com`,
    customerName,
    faultyItem: { ...item, quantity: 1, serialNumber: `SN-${448_000 + i * 13}` },
    faultDescription: fault,
    storeId: `store-${(i % 4) + 1}`,
    externalRef: `POS-${88_000 + i}`,
    externalSource: `till-${(i % 4) + 1}`,
    startStatus: i % 6 === 0 ? 'COUNTER_SWAPPED' : 'OFFLINE_DIAGNOSTICS',
  };
};
