import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { ADMIN_BASE_PATH } from '../../contract/admin-people.ts';
import { repairBody, tradeBody } from '../support/bodies.ts';
import { wrongClock } from '../support/faketime.ts';
import { ENGINE } from '../support/harness.ts';
import { scaled } from '../support/machine.ts';
import {
  cli,
  type Env,
  lookInto,
  migratedDatabase,
  type ServerProcess,
  startServer,
} from '../support/process.ts';
import { Service } from '../support/service.ts';
import { addClient, addPerson, makeShop } from '../support/shops.ts';
import { needs } from '../support/tools.ts';
import { until } from '../support/until.ts';

// Whoever follows the feed, or asks the lists for what changed since, misses nothing: with many writers, in two processes
// whose clocks differ, through a kill and a clock that is set back.

/** A short run in the suite; `npm run test:feed` makes a long one. */
const EVENTS = Number(process.env['FEED_EVENTS'] ?? 600);
const WRITERS = 8;
const READER_PAGES = [3, 17, 100];

interface Acknowledged {
  rmaId: string;
  at: string;
}

/** Creates and moves repairs, and has a person move trade returns, until enough is written; keeps what was acknowledged. */
const write = async (
  service: Service,
  key: { now: string; next?: Promise<string> },
  cookie: string,
  isEnough: () => boolean,
  acknowledged: Acknowledged[],
): Promise<void> => {
  const keep = ({ status, body }: Awaited<ReturnType<ServerProcess['get']>>): boolean => {
    // A key that was revoked meanwhile writes nothing more; one that was replaced is given a new one.
    if (status === 401) return false;
    if (status === 409) return true;
    expect(status).toBeLessThan(300);
    acknowledged.push({ rmaId: body.id, at: body.updatedAt });
    return true;
  };
  const post = async (path: string, body?: unknown) => {
    const answer = await service.ask((server) => server.post(path, body, { key: key.now }));
    if (answer.status !== 401 || !key.next) return answer;
    key.now = await key.next;
    return service.ask((server) => server.post(path, body, { key: key.now }));
  };
  const byStaff = (id: string, action: string) =>
    service.ask((server) =>
      server.post(`${ADMIN_BASE_PATH}/trade-returns/${id}/${action}`, {}, { key: null, headers: { cookie } }),
    );
  while (!isEnough()) {
    const repair = await post('/offline-repairs', repairBody());
    if (!keep(repair)) return;
    for (const action of ['begin-repair', 'close'])
      if (!keep(await post(`/offline-repairs/${repair.body.id}/${action}`))) return;
    const trade = await post('/trade-returns', tradeBody());
    if (!keep(trade)) return;
    for (const action of ['approve', 'receive']) keep(await byStaff(trade.body.id, action));
  }
};

interface Seen {
  id: string;
  event: string;
  timestamp: string;
  data: { id: string };
}

/** Follows the feed as the guide says, until it has been told that nothing more is written and has read everything. */
const follow = async (
  service: Service,
  key: string,
  limit: number,
  isOver: () => boolean,
): Promise<Seen[]> => {
  const seen: Seen[] = [];
  let after = '';
  for (;;) {
    const wasOver = isOver();
    const query = new URLSearchParams({ limit: String(limit), wait: '1', ...(after ? { after } : {}) });
    const { status, body } = await service.ask((server) => server.get(`/events?${query}`, { key }));
    expect(status).toBe(200);
    seen.push(...body.items);
    after = body.cursor;
    if (wasOver && body.items.length === 0) return seen;
  }
};

/**
 * Asks the list for what changed since. A pass reads all pages; the next begins with the newest time that was known before
 * this pass, since a record that changes while its pages are read may slip past.
 */
const poll = async (service: Service, key: string, isOver: () => boolean): Promise<Map<string, string>> => {
  const newestById = new Map<string, string>();
  let [since, newest] = ['1970-01-01T00:00:00.000Z', '1970-01-01T00:00:00.000Z'];
  for (;;) {
    const wasOver = isOver();
    const before = newest;
    for (let page = 1, pages = 1; page <= pages; page++) {
      const query = new URLSearchParams({ updatedSince: since, limit: '100', page: String(page) });
      const { body } = await service.ask((server) => server.get(`/offline-repairs?${query}`, { key }));
      for (const { id, updatedAt } of body.items) {
        newestById.set(id, updatedAt);
        if (updatedAt > newest) newest = updatedAt;
      }
      pages = body.totalPages;
    }
    if (wasOver && since === before) return newestById;
    since = before;
  }
};

const signIn = async (server: ServerProcess, person: object): Promise<string> => {
  const { headers } = await server.post(`${ADMIN_BASE_PATH}/session`, person, { key: null });
  return headers.getSetCookie()[0]?.split(';')[0] ?? '';
};

/** Two processes whose clocks are 2 s apart; on SQLite one. */
const start = async (env: Env): Promise<ServerProcess[]> => {
  const ahead = { ...env, ...wrongClock('+2s') };
  return Promise.all([startServer(ahead), ...(ENGINE === 'postgres' ? [startServer(env)] : [])]);
};

describe('the event feed under load', () => {
  it('misses and repeats nothing, through a kill and clocks that differ', {
    ...needs('faketime'),
    timeout: scaled(900_000),
  }, async () => {
    const env = await migratedDatabase();
    const { shopId, key, clientId } = await makeShop(env, { plan: 'ENTERPRISE', allowance: null });
    const doomed = await addClient(env, shopId, { name: 'To be revoked' });
    const exposed = await addClient(env, shopId, { name: 'To be replaced' });
    const replaced = Promise.withResolvers<string>();
    const keys = [{ now: doomed.apiKey }, { now: exposed.apiKey, next: replaced.promise }];
    const person = await addPerson(env, shopId);
    const service = new Service();
    service.servers = await start(env);
    const db = lookInto(env);
    const count = async () =>
      (await db.selectFrom('shop_counters').select('last_position').executeTakeFirstOrThrow()).last_position;
    const cookie = await signIn(service.servers[0] as ServerProcess, person);

    let written = 0;
    let isOver = false;
    const acknowledged: Acknowledged[] = [];
    const readers = READER_PAGES.map((limit) => follow(service, key, limit, () => isOver));
    const poller = poll(service, key, () => isOver);
    const writers = Array.from({ length: WRITERS }, (_, i) =>
      write(service, keys[i] ?? { now: key }, cookie, () => written >= EVENTS, acknowledged),
    );
    const watched = (async () => {
      for (; written < EVENTS; await pause(10)) written = await count();
    })();

    await until('a third is written', () => written >= EVENTS / 3, 600_000);
    await cli(['client', 'revoke', doomed.id], env);
    replaced.resolve((await cli(['client', 'replace', exposed.id], env)).apiKey);
    const [first] = service.servers as [ServerProcess];
    expect((await first.stop('SIGKILL')).signal).toBe('SIGKILL');
    // It comes back with a clock that was set back by an hour.
    const again = await startServer({ ...env, ...wrongClock('-3600s') });
    service.servers = [again, ...service.servers.slice(1)];
    await watched;
    await Promise.all(writers);
    isOver = true;
    const feeds = await Promise.all(readers);

    const events = await db.selectFrom('events').selectAll().orderBy('position').execute();
    expect(events.map(({ position }) => position)).toEqual(events.map((_, i) => i + 1));
    for (const seen of feeds) expect(seen.map(({ id }) => id)).toEqual(events.map(({ id }) => id));
    // In the order of the commits no time falls, and an RMA's times rise.
    const times = events.map(({ at }) => at);
    expect(times).toEqual([...times].sort((one, other) => one - other));
    const told = new Map<string, number[]>();
    for (const { rma_id, at } of events) told.set(rma_id, [...(told.get(rma_id) ?? []), at]);
    const entries = await db.selectFrom('timeline').select(['rma_id', 'at']).orderBy('at').execute();
    for (const [rmaId, at] of told)
      expect(entries.filter((entry) => entry.rma_id === rmaId).map((entry) => entry.at)).toEqual(at);
    // What was acknowledged is there.
    const inFeed = new Set(events.map(({ rma_id, at }) => `${rma_id} ${new Date(at).toISOString()}`));
    expect(acknowledged.filter(({ rmaId, at }) => !inFeed.has(`${rmaId} ${at}`))).toEqual([]);
    expect(acknowledged.length).toBeGreaterThan(EVENTS / 2);
    expect(new Set(events.map(({ rma_id }) => rma_id)).size).toBeGreaterThan(WRITERS);
    expect(clientId).not.toBe(doomed.id);

    // And so it is for whoever asks the list.
    const rows = await db.selectFrom('offline_repairs').select(['id', 'updated_at']).execute();
    const polled = await poller;
    expect(rows.filter((row) => polled.get(row.id) !== new Date(row.updated_at).toISOString())).toEqual([]);
  });
});
