// engines: sqlite, postgres

import { setTimeout as pause } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { repairBody, tradeBody } from '../../support/bodies.ts';
import { wrongClock } from '../../support/faults.ts';
import { ENGINE } from '../../support/harness.ts';
import { HistoryNotes } from '../../support/history/history.ts';
import type { ApiResponse } from '../../support/http.ts';
import {
  cli,
  lookInto,
  migratedDatabase,
  type ServerProcess,
  Service,
  startServer,
} from '../../support/process.ts';
import { addClient, addPerson, makeShop, type SignedIn, signIn } from '../../support/shops.ts';
import { needs } from '../../support/tools.ts';
import { scaled, until } from '../../support/until.ts';

// A program that follows the feed, or asks the lists for what changed since, misses nothing: with many writers, in two processes
// whose clocks differ, through a kill and a clock that is set back.

/** A short run in the suite; `npm run test:feed` makes a long one. */
const EVENTS = Number(process.env['FEED_EVENTS'] ?? 600);
const WRITERS = 8;
const READER_PAGES = [3, 17, 100];

interface Writer {
  service: Service;
  history: HistoryNotes;
  admin: SignedIn;
  clientId: string;
  key: string;
  /** The key to go on with once the first is void; without one the writer ends. */
  next?: Promise<string>;
  isEnough(): boolean;
}

/** Creates and moves repairs, and has a person move trade returns, until enough is written; notes what was acknowledged. */
const write = async ({ service, history, admin, clientId, isEnough, ...writer }: Writer): Promise<void> => {
  let { key } = writer;
  const post = async (path: string, body?: unknown): Promise<ApiResponse> => {
    const response = await service.ask((server) => server.post(path, body, { key }));
    if (response.status !== 401 || !writer.next) return response;
    key = await writer.next;
    return service.ask((server) => server.post(path, body, { key }));
  };
  while (!isEnough()) {
    const repair = await post('/offline-repairs', repairBody());
    history.noteCreation({ clientId }, repair);
    if (repair.status === 401) return;
    for (const [action, event] of [
      ['begin-repair', 'offline_repair.status_changed'],
      ['close', 'offline_repair.closed'],
    ] as const)
      history.noteMove(event, await post(`/offline-repairs/${repair.body.id}/${action}`));
    const trade = await post('/trade-returns', tradeBody());
    history.noteCreation({ clientId }, trade);
    if (trade.status === 401) return;
    for (const action of ['approve', 'receive']) {
      const path = `/trade-returns/${trade.body.id}/${action}`;
      const moved = await service.ask((server) => admin.post(server, path));
      history.noteMove('trade_return.status_changed', moved);
    }
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

it('the event feed under load misses and repeats nothing, across a kill and with differing clocks', {
  ...needs('faketime'),
  timeout: scaled(900_000),
}, async () => {
  const env = await migratedDatabase();
  const { shopId, key, clientId } = await makeShop(env);
  const revoked = await addClient(env, shopId, { name: 'To be revoked' });
  const replaced = await addClient(env, shopId, { name: 'To be replaced' });
  const replacement = Promise.withResolvers<string>();
  const service = new Service();
  // Two processes whose clocks are 2 s apart; on SQLite one.
  const ahead = { ...env, ...wrongClock('+2s') };
  const starts = [startServer(ahead), ...(ENGINE === 'postgres' ? [startServer(env)] : [])];
  service.servers = await Promise.all(starts);
  const [first] = service.servers as [ServerProcess];
  const admin = await signIn(first, await addPerson(env, shopId));
  const db = lookInto(env);
  const history = new HistoryNotes();
  let written = 0;
  let isOver = false;
  const get = (path: string) => service.ask((server) => server.get(path, { key }));
  const readers = READER_PAGES.map((limit) => history.follow({ shopId, limit, get }));
  const poller = poll(service, key, () => isOver);
  const common = { service, history, admin, isEnough: () => written >= EVENTS };
  const writers = [
    write({ ...common, clientId: revoked.id, key: revoked.apiKey }),
    write({ ...common, clientId: replaced.id, key: replaced.apiKey, next: replacement.promise }),
    ...Array.from({ length: WRITERS - 2 }, () => write({ ...common, clientId, key })),
  ];
  const counted = (async () => {
    for (; written < EVENTS; await pause(10)) {
      const counter = db.selectFrom('shop_counters').select('last_position');
      written = (await counter.executeTakeFirstOrThrow()).last_position;
    }
  })();

  await until('a third is written', () => written >= EVENTS / 3, 600_000);
  await cli(['client', 'revoke', revoked.id], env);
  replacement.resolve((await cli(['client', 'replace', replaced.id], env)).apiKey);
  expect((await first.stop('SIGKILL')).signal).toBe('SIGKILL');
  // The process returns with a clock that was set back by an hour.
  const again = await startServer({ ...env, ...wrongClock('-3600s') });
  service.servers = [again, ...service.servers.slice(1)];
  await counted;
  await Promise.all(writers);
  isOver = true;
  await Promise.all(readers.map((readToTheEnd) => readToTheEnd()));

  expect(history.creations.length + history.moves.length).toBeGreaterThan(EVENTS / 2);
  const { events } = await history.judged(db);
  // Times never decrease in the order of the commits.
  const times = events.map(({ at }) => at);
  expect(times).toEqual(times.toSorted((one, other) => one - other));
  // A program that polls the list has seen every change, too.
  const rows = await db.selectFrom('offline_repairs').select(['id', 'updated_at']).execute();
  const polled = await poller;
  expect(rows.filter((row) => polled.get(row.id) !== new Date(row.updated_at).toISOString())).toEqual([]);
});
