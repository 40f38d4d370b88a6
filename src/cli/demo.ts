import { randomBytes } from 'node:crypto';
import { resolve } from 'node:path';
import type { UserRole } from '../../contract/admin-people.ts';
import type { SetWaitingFor } from '../../contract/admin-returns.ts';
import type { TargetDays } from '../../contract/admin-work.ts';
import { BASE_PATH } from '../../contract/common.ts';
import type { OfflineRepairAction, TradeReturnAction } from '../../contract/lifecycle.ts';
import { CreateOfflineRepair, OfflineRepairActionBody } from '../../contract/offline-repair.ts';
import { CreateTradeReturn, TradeReturnMoveBody } from '../../contract/trade-return.ts';
import type { Context } from '../api/context.ts';
import { createClient } from '../api-clients/actions.ts';
import { OPERATOR } from '../audit/store.ts';
import { findFact } from '../db/installation-facts.ts';
import { fileIn } from '../db/open.ts';
import { DAY_MS, HOUR_MS } from '../lib/time.ts';
import { offlineRepairs, type ReturnActions, tradeReturns } from '../returns/actions.ts';
import type { CreateBody } from '../returns/kinds/kind.ts';
import { createShop } from '../shops/actions.ts';
import { changeDangerousGoods } from '../shops/dangerous-goods.ts';
import type { Caller } from '../shops/plans.ts';
import { replaceTargets } from '../shops/settings.ts';
import { addPerson } from '../staff/links.ts';
import { actorOf } from '../staff/users.ts';

// Creates sample data. Some of it is untidy, like data of real shops: long names, other scripts, emoji, many items.

const PEOPLE = [
  ['Ada Pereira', 'ada.pereira'],
  ['Bo Lindqvist', 'bo.lindqvist'],
  ['María de los Ángeles Fernández de la Cuesta y Villanueva-Echeverría', 'maria.fernandez.de.la.cuesta'],
  ['Dana Kowalski', 'dana.kowalski'],
  ['נועה אברמוביץ׳־לוי', 'noa.levi'],
  ['Farid Haddad', 'farid.haddad'],
  ['Grace Muller 🛠️', 'grace.muller'],
] as const;
const COMPANIES = [
  'Northwind Interiors',
  'Gesellschaft für Werkzeug- und Maschinenbau Südwest-Niedersachsen mbH & Co. KG',
  'Harbour Hotels',
  'شركة الخليج لتجارة المعدات',
  'Fjord Outfitters',
];
const ITEMS = [
  { sku: 'KETTLE-17', productName: 'Kettle 1.7 l', price: 49.95, fault: 'Does not heat up any more' },
  { sku: 'BATT-DRILL-18V', productName: 'Drill battery 18 V', price: 89, fault: 'Swells while charging' },
  { sku: 'LAMP-OAK', productName: 'Oak table lamp', price: 120.5, fault: 'Flickers, then goes out' },
  { sku: 'SPEAKER-MINI', productName: 'Mini speaker', price: 64.9, fault: 'No sound on the left side' },
  {
    sku: 'DHP484Z-18V-LXT-BODY-ONLY-EU-PLUG-2026-Q3-REFURBISHED',
    productName: 'Makita DHP484Z 18V LXT Li-ion Brushless Combi Drill Body Only',
    price: 239.9,
    fault:
      'The chuck slips under load. The customer says it began after a week, that it is worse when the battery is full, ' +
      'and that the first repair did not help: it held for two days.\nPlease ring before it is sent back 📞',
  },
  { sku: 'BLENDER-PRO', productName: 'Blender Pro', price: 179, fault: 'The jug leaks at its base' },
];

const pick = <Value>(values: readonly Value[], i: number): Value => values[i % values.length] as Value;

const sampleCustomer = (i: number) => {
  const [customerName, mailbox] = pick(PEOPLE, i);
  return { customerName, customerEmail: `${mailbox}@example.com` };
};

/** The actions on repairs; each repair takes only some of them. */
const REPAIR_STEPS: [OfflineRepairAction, body: (i: number) => object][] = [
  ['tracking', (i) => ({ trackingNumber: `JD01460000${i}`, carrierName: 'DHL' })],
  ['begin-repair', (i) => ({ assignedToId: `tech-${(i % 3) + 1}`, repairNotes: 'Part ordered' })],
  ['resolve', (i) => ({ offlineDisposition: i % 2 ? 'RESTOCK_MASTER' : 'WRITE_OFF' })],
  ['close', () => ({})],
];

const sampleRepair = (i: number) => {
  const { fault, ...item } = pick(ITEMS, i);
  return {
    ...sampleCustomer(i),
    orderNumber: `SO-${10_000 + i * 7}`,
    faultyItem: { ...item, quantity: 1, serialNumber: `SN-${448_000 + i * 13}` },
    faultDescription: fault,
    storeId: `store-${(i % 4) + 1}`,
    externalRef: `POS-${88_000 + i}`,
    externalSource: `till-${(i % 4) + 1}`,
    startStatus: i % 6 === 0 ? 'COUNTER_SWAPPED' : 'OFFLINE_DIAGNOSTICS',
  };
};

/** The actions on trade returns; some of these are rejected. */
const TRADE_STEPS: TradeReturnAction[] = ['approve', 'receive', 'request-credit', 'resolve'];
const tradeSteps = (i: number) => (i % 6 === 5 ? (['reject'] as const) : TRADE_STEPS.slice(0, i % 6));

const MANY_ITEMS = 14;
const sampleItems = (i: number) =>
  Array.from({ length: i % 5 === 4 ? MANY_ITEMS : 2 }, (_, line) => pick(ITEMS, i + 2 * line));

const sampleTradeReturn = (i: number) => ({
  ...sampleCustomer(i),
  tradeOrderNumber: `TO-${5_500 + i}`,
  companyName: pick(COMPANIES, i),
  companyId: `company-${118 + (i % COMPANIES.length)}`,
  reason: pick(['Damaged in transit', 'Wrong colour delivered', 'Ordered too many'], i),
  items: sampleItems(i).map(({ fault: _, ...item }, line) => ({
    ...item,
    quantity: 2 + ((i + line) % 5),
    tradeLineItemId: `line-${line + 1}`,
  })),
  shippingAddress: { street: '12 Harbour Road', suburb: 'Port Melbourne', state: 'VIC', postcode: '3207' },
  externalRef: `ERP-${700 + i}`,
});

/** All items have arrived. In every other return one unit of the first item is broken. */
const sampleReceipt = (i: number) => ({
  lines: sampleTradeReturn(i).items.map(({ quantity }, item) => ({
    line: item + 1,
    received: quantity,
    ...(item === 0 && i % 2 === 1 && { accepted: quantity - 1, note: 'One has a broken base' }),
  })),
});

const TARGET_DAYS: TargetDays['targets'] = [
  { status: 'OFFLINE_DIAGNOSTICS', days: 3 },
  { status: 'OFFLINE_REPAIR', days: 10 },
  { status: 'TRADE_SUBMITTED', days: 2 },
  { status: 'TRADE_RECEIVED', days: 7 },
];

/** Some repairs in progress wait for a part, and some new ones for a reply of the customer. */
const sampleWaiting = (i: number, now: number): SetWaitingFor | null => {
  if (i % 10 === 2) return { what: 'PART', until: now + 3 * DAY_MS, note: 'Ordered, promised for this week' };
  if (i % 15 === 5) return { what: 'CUSTOMER', until: null, note: 'Asked whether we may open the case' };
  return null;
};

// --- filling ---

const REPAIR_COUNT = 40;
const TRADE_RETURN_COUNT = 18;

type DemoStep = (at: Context, id: string) => Promise<unknown>;

/** The steps of a return with their times, three hours apart. The first step creates it. */
const stepsOf = (
  returns: ReturnActions,
  body: CreateBody,
  caller: Caller,
  startsAt: number,
  laterSteps: DemoStep[],
) => {
  let id = '';
  const create = async (at: Context) => {
    id = (await returns.create(at, caller, body)).body.id;
  };
  return [create, ...laterSteps].map((step, n) => ({
    at: startsAt + n * 3 * HOUR_MS,
    run: (at: Context) => step(at, id),
  }));
};

/** Creates a shop with people, rules and returns in every stage, spread over the past days. */
export const demo = async (ctx: Context) => {
  const tag = randomBytes(3).toString('hex');
  const shop = await createShop(ctx, OPERATOR, { name: `Demo shop ${tag}`, plan: 'SCALE' });
  await changeDangerousGoods(ctx, OPERATOR, shop.id, { add: ['BATT-*'] });
  const password = randomBytes(9).toString('base64url');
  const addUser = (name: string, mailbox: string, role: UserRole) => {
    const email = `${mailbox}-${tag}@demo.example`;
    return addPerson(ctx, { shop, actor: OPERATOR }, { email, name, role, password });
  };
  const admin = await addUser('Robin Marsh', 'admin', 'ADMIN');
  const colleague = await addUser('Sam Okoro', 'sam', 'STAFF');
  await replaceTargets(ctx, OPERATOR, shop.id, { targets: TARGET_DAYS });
  const assignees = [admin.id, colleague.id, null];
  const client = await createClient(ctx, OPERATOR, { shopId: shop.id, name: 'Demo till', webhookUrl: null });
  const actor = { type: 'API_CLIENT', id: client.id, name: client.name } as const;
  const clientCaller: Caller = { shop, actor, receiverId: client.receiverId };
  const staffCaller: Caller = { shop, actor: actorOf(admin) };

  const now = ctx.clock.now();
  const repairs = Array.from({ length: REPAIR_COUNT }, (_, i) => {
    const moves = REPAIR_STEPS.slice(0, i % 5).map(([action, bodyOf]): DemoStep => {
      const given = OfflineRepairActionBody[action].parse(bodyOf(i));
      return (at, id) => offlineRepairs.move(at, clientCaller, id, action, given);
    });
    const assign: DemoStep = (at, id) => offlineRepairs.assign(at, staffCaller, id, pick(assignees, i));
    const waiting = sampleWaiting(i, now);
    const wait: DemoStep = (at, id) =>
      offlineRepairs.change(at, staffCaller, { type: 'wait', id, waiting, seen: undefined });
    const steps = [assign, ...moves, ...(waiting ? [wait] : [])];
    const body = CreateOfflineRepair.parse(sampleRepair(i));
    return stepsOf(offlineRepairs, body, clientCaller, now - (REPAIR_COUNT - i) * 9 * HOUR_MS, steps);
  });
  const trade = Array.from({ length: TRADE_RETURN_COUNT }, (_, i) => {
    const moves = tradeSteps(i).map((action): DemoStep => {
      const given = TradeReturnMoveBody[action].parse(action === 'receive' ? sampleReceipt(i) : {});
      return (at, id) => tradeReturns.move(at, staffCaller, id, action, given);
    });
    const body = CreateTradeReturn.parse(sampleTradeReturn(i));
    return stepsOf(tradeReturns, body, clientCaller, now - (TRADE_RETURN_COUNT - i) * 20 * HOUR_MS, moves);
  });
  // The steps are sorted, because the times of a shop's changes never decrease. Steps in the future happen now.
  const steps = [...repairs, ...trade].flat().toSorted((one, other) => one.at - other.at);
  for (const { at, run } of steps) await run({ ...ctx, clock: { now: () => Math.min(at, now) } });

  // The URL is PUBLIC_URL if it is set, else the address at the last start of the service.
  const { publicUrl, publicUrlIsSet, databaseUrl, dataDir } = ctx.config;
  const url = (publicUrlIsSet ? null : await findFact(ctx.db, 'address')) ?? publicUrl;
  return {
    shop: shop.name,
    shopId: shop.id,
    database: databaseUrl ? 'PostgreSQL (DATABASE_URL)' : fileIn(resolve(dataDir)),
    admin: `${url}/admin`,
    email: admin.email,
    password,
    apiKey: client.apiKey,
    webhookSecret: client.webhookSecret,
    try: `curl -H 'X-Api-Key: ${client.apiKey}' '${url}${BASE_PATH}/offline-repairs?limit=3'`,
  };
};
