// engines: sqlite, postgres

import { expect, it } from 'vitest';
import type { Row } from '../../../src/db/schema.ts';
import type { Db } from '../../../src/db/types.ts';
import { repairBody, tradeBody } from '../../support/bodies.ts';
import { HistoryNotes, startTill } from '../../support/history/history.ts';
import { type ApiResponse, NoResponse } from '../../support/http.ts';
import {
  type Env,
  lookInto,
  migratedDatabase,
  type ServerProcess,
  Service,
  startAll,
  startServer,
} from '../../support/process.ts';
import { randomOf, SEED } from '../../support/random.ts';
import { atOnce, repeatedly } from '../../support/responses.ts';
import { addPerson, makeShop, type SignedIn, signIn } from '../../support/shops.ts';
import { scaled, until } from '../../support/until.ts';

// Customers are erased while a shop works and its processes are killed: each return loses its customer whole or not at all.

const RETURNS_OF_EACH = 40;
/** Two for each kill: on PostgreSQL the other process erases one of them meanwhile. */
const CUSTOMERS = ['ada', 'bela', 'cleo', 'dora'];
const CALLERS = 6;
const [TILLS, READERS] = [2, 2];
/** This word is in every text that an erased return loses. */
const markOf = (customer: string): string => `planted-${customer}`;
const emailOf = (customer: string): string => `${markOf(customer)}@example.com`;

interface Shop {
  shopId: string;
  clientId: string;
  key: string;
  admin: SignedIn;
  service: Service;
  history: HistoryNotes;
}

/** A return with notes, events and a stored response, every third one corrected, that has ended. */
const addReturn = async ({ service, key, clientId, admin, history }: Shop, customer: string, i: number) => {
  const mark = markOf(customer);
  const isTrade = i % 5 === 0;
  const path = isTrade ? '/trade-returns' : '/offline-repairs';
  const person = {
    customerEmail: emailOf(customer),
    customerName: mark,
    faultDescription: `${mark} says so`,
  };
  const body = isTrade ? tradeBody({ ...person, reason: mark }) : repairBody({ ...person, notes: mark });
  const headers = { 'idempotency-key': `${mark}-${i}` };
  const created = await service.next.post(path, body, { key, headers });
  history.noteCreation({ clientId }, created);
  const onReturn = (action: string) => `${path}/${created.body.id}/${action}`;
  const byAdmin = async (action: string, sent: object) => {
    const response = await admin.post(service.next, onReturn(action), sent);
    expect(response, action).toHaveStatus(200);
  };
  await byAdmin('notes', { note: `${mark} called` });
  if (i % 3 === 0) await byAdmin('correct', { customerName: `${mark} again` });
  if (isTrade) return byAdmin('reject', { note: mark });
  history.noteMove('offline_repair.closed', await service.next.post(onReturn('close'), {}, { key }));
};

const fill = (shop: Shop): Promise<unknown> => {
  const all = CUSTOMERS.flatMap((customer) =>
    Array.from({ length: RETURNS_OF_EACH }, (_, i) => ({ customer, i })),
  );
  return atOnce(CALLERS, async () => {
    for (let next = all.pop(); next; next = all.pop()) await addReturn(shop, next.customer, next.i);
  });
};

/** What readers are shown of a customer after the response that reported the erasure. */
class Onlookers {
  readonly #erased: string[] = [];
  readonly shown: string[] = [];

  isErased(customer: string): void {
    this.#erased.push(markOf(customer));
  }

  async see(path: string, ask: () => Promise<ApiResponse>): Promise<ApiResponse> {
    const marks = [...this.#erased];
    const response = await ask();
    const text = JSON.stringify(response.body);
    for (const mark of marks) if (text.includes(mark)) this.shown.push(`${path} shows ${mark}`);
    return response;
  }
}

/** Tills that create and move returns, followers of the feed, readers of lists and of single returns. Returns how to end them all. */
const startLoad = (shop: Shop, onlookers: Onlookers, failures: string[]) => {
  const { history, service, shopId, clientId, key } = shop;
  const tills = Array.from({ length: TILLS }, (_, i) =>
    startTill({
      history,
      clientId,
      random: randomOf(SEED + i),
      name: `till-${i}`,
      send: (path, body, headers = {}) => service.next.post(path, body, { key, headers }),
      // A shop whose counters are locked for too long is a 503: nothing was done.
      onFailure: (status, path) => void (status === 503 || failures.push(`${path}: ${status}`)),
    }),
  );
  const get = (path: string) => onlookers.see(path, () => service.ask((server) => server.get(path, { key })));
  const followers = [7, 100].map((limit) =>
    history.follow({ shopId, limit, get: (path) => get(`${path}&types=all`) }),
  );
  const random = randomOf(SEED);
  const endReaders = repeatedly(READERS, async () => {
    const path = random.percent(80) ? '/offline-repairs' : '/trade-returns';
    const { body } = await get(`${path}?limit=30&page=${1 + random.below(10)}`);
    const id = body.items[0]?.id;
    if (id) for (const part of ['', '/timeline']) await get(`${path}/${id}${part}`);
  });
  return async () => {
    for (const end of [...tills, endReaders, ...followers]) await end();
  };
};

const erase = (server: ServerProcess, { admin }: Shop, customer: string): Promise<ApiResponse> =>
  admin.post(server, '/customers/erase', { email: emailOf(customer), reason: 'A letter' });

/** For each return of a customer: whether it is erased, and how many of its fields still name the customer. */
const placesOf = async (db: Db, shopId: string, customer: string) => {
  const rows = [
    ...(await db.selectFrom('offline_repairs').selectAll().where('shop_id', '=', shopId).execute()),
    ...(await db.selectFrom('trade_returns').selectAll().where('shop_id', '=', shopId).execute()),
  ];
  const entries = Map.groupBy(await db.selectFrom('timeline').selectAll().execute(), (row) => row.rma_id);
  const events = Map.groupBy(await db.selectFrom('events').selectAll().execute(), (row) => row.rma_id);
  const listed = new Set(
    (await db.selectFrom('erasures').select('subject_id').execute()).map((row) => row.subject_id),
  );
  const keys = await db.selectFrom('idempotency_keys').select(['key', 'response']).execute();
  const responses = keys.filter(({ key }) => key.startsWith(`${markOf(customer)}-`));
  return responses.map(({ response }) => {
    const { id } = JSON.parse(response);
    const row = rows.find((each) => each.id === id);
    const told: { timeline: Row<'timeline'>[]; events: Row<'events'>[] } = {
      timeline: entries.get(id) ?? [],
      events: events.get(id) ?? [],
    };
    const holding = [row, told.timeline, told.events, response].map((place) =>
      JSON.stringify(place).includes(markOf(customer)),
    );
    const saying = [
      typeof row?.erased_at === 'number',
      told.timeline.filter(({ type }) => type === 'ERASED').length === 1,
      told.events.filter(({ event }) => event.endsWith('.erased')).length === 1,
      listed.has(id),
    ];
    return { isErased: saying[0] as boolean, holding, saying };
  });
};

/** Expects every return to be erased completely or not at all, and returns how many are erased. */
const expectWhole = async (db: Db, shopId: string, customer: string): Promise<number> => {
  const returns = await placesOf(db, shopId, customer);
  expect(returns.length).toBe(RETURNS_OF_EACH);
  const isWhole = ({ isErased, holding, saying }: (typeof returns)[number]) =>
    holding.every((holds) => holds !== isErased) && saying.every((says) => says === isErased);
  expect(returns.filter((each) => !isWhole(each))).toEqual([]);
  return returns.filter(({ isErased }) => isErased).length;
};

/** Kills a process while it erases a customer, and the other one, where there is one, erases another. Returns how many were erased by then. */
const killWhileErasing = async (db: Db, env: Env, shop: Shop, [one, other]: [string, string]) => {
  const { service } = shop;
  const [victim, survivor] = service.servers as [ServerProcess, ServerProcess?];
  const countErased = async () => (await db.selectFrom('erasures').select('subject_id').execute()).length;
  const before = await countErased();
  const cut = erase(victim, shop, one).catch((error) => {
    if (!(error instanceof NoResponse)) throw error;
  });
  await until('some are erased', async () => (await countErased()) > before);
  const beside = survivor && erase(survivor, shop, other);
  expect((await victim.stop('SIGKILL')).signal).toBe('SIGKILL');
  await cut;
  const answered = await beside;
  if (answered) {
    expect(answered).toHaveStatus(200);
    expect(answered.body).toMatchObject({ erased: RETURNS_OF_EACH });
  }
  const erased = await expectWhole(db, shop.shopId, one);
  // The other process goes first from now on, and is killed next.
  service.servers = [...service.servers.slice(1), await startServer(env)];
  return erased;
};

it('customers are erased completely or not at all, under load and kills', {
  timeout: scaled(180_000),
}, async () => {
  const env = await migratedDatabase();
  const { shopId, key, clientId } = await makeShop(env);
  const service = new Service();
  service.servers = await startAll(env);
  const admin = await signIn(service.next, await addPerson(env, shopId, 'ADMIN'));
  const shop: Shop = { shopId, key, clientId, admin, service, history: new HistoryNotes() };
  await fill(shop);
  const db = lookInto(env);
  const onlookers = new Onlookers();
  const failures: string[] = [];
  const endLoad = startLoad(shop, onlookers, failures);

  const erasedAtKill: number[] = [];
  for (let first = 0; first < CUSTOMERS.length; first += 2) {
    const pair = CUSTOMERS.slice(first, first + 2) as [string, string];
    erasedAtKill.push(await killWhileErasing(db, env, shop, pair));
    // A second call erases the rest; where there is one process, it is the first call for the other customer.
    for (const customer of pair) {
      const response = await service.ask((server) => erase(server, shop, customer));
      expect(response).toHaveStatus(200);
      expect(response.body).toMatchObject({ refused: [], remaining: 0 });
      onlookers.isErased(customer);
      expect(await expectWhole(db, shopId, customer)).toBe(RETURNS_OF_EACH);
    }
  }
  // Readers continue for a while.
  await until(
    'more is created',
    () => shop.history.creations.length > CUSTOMERS.length * RETURNS_OF_EACH + 20,
  );
  await endLoad();

  expect(failures).toEqual([]);
  expect(onlookers.shown).toEqual([]);
  // At least one process was killed during an erasure.
  expect(Math.min(...erasedAtKill)).toBeLessThan(RETURNS_OF_EACH);
  const { events } = await shop.history.judged(db);
  expect(events.filter(({ event }) => event.endsWith('.erased')).length).toBe(
    CUSTOMERS.length * RETURNS_OF_EACH,
  );
});
