import Sqlite from 'better-sqlite3';
import { newId } from '../../src/lib/ids.ts';
import { eventOf, MOVE_EVENT, moveEventOf, REPAIR_COLUMNS, type RepairRow } from './repair.ts';
import type { Store } from './store.ts';

export const openSqliteStore = (file: string): Store => {
  const connection = new Sqlite(file);
  connection.pragma('journal_mode = WAL');
  connection.pragma('synchronous = FULL');
  connection.pragma('cache_size = -65536');

  const count = connection.prepare<[number, string], { last_number: number; last_position: number }>(
    `update shop_counters set last_number = last_number + 1, month_used = month_used + 1,
         last_position = last_position + 1, last_at = ?
       where shop_id = ? returning last_number, last_position`,
  );
  const insert = connection.prepare(
    `insert into offline_repairs (${REPAIR_COLUMNS.join(', ')})
     values (${REPAIR_COLUMNS.map((column) => `@${column}`).join(', ')})`,
  );
  const enter = connection.prepare(
    `insert into timeline (rma_id, at, id, type, actor_type, actor_id, actor_name, to_status, data)
     values (?, ?, ?, 'CREATED', 'API_CLIENT', ?, 'Till', ?, '{}')`,
  );
  const log = connection.prepare(
    'insert into events (shop_id, position, id, rma_id, event, at, body) values (?, ?, ?, ?, ?, ?, ?)',
  );
  const send = connection.prepare(
    `insert into webhook_deliveries
       (id, receiver_id, rma_id, event, body, status, attempts, attempt_log, due_at, created_at)
     values (?, ?, ?, ?, '', 'PENDING', 0, '[]', ?, ?)`,
  );
  const create = connection.transaction((repair: RepairRow) => {
    const now = repair.created_at as number;
    const counter = count.get(now, repair.shop_id as string);
    const eventId = newId(now);
    repair.number = counter?.last_number ?? 0;
    insert.run(repair);
    enter.run(repair.id, now, newId(now), repair.receiver_id, repair.status);
    const name = 'offline_repair.created';
    log.run(repair.shop_id, counter?.last_position, eventId, repair.id, name, now, eventOf(repair));
    send.run(eventId, repair.receiver_id, repair.id, name, now, now);
  }).immediate;

  const columns = REPAIR_COLUMNS.join(', ');
  const get = connection.prepare<[string, string], RepairRow>(
    `select ${columns} from offline_repairs where id = ? and shop_id = ?`,
  );

  const advance = connection.prepare<[number, string], { last_position: number }>(
    `update shop_counters set last_position = last_position + 1, last_at = ? where shop_id = ? returning last_position`,
  );
  const update = connection.prepare(
    'update offline_repairs set status = ?, status_since = ?, updated_at = ? where id = ?',
  );
  const note = connection.prepare(
    `insert into timeline (rma_id, at, id, type, actor_type, actor_id, actor_name, from_status, to_status, data)
     values (?, ?, ?, 'STATUS_CHANGED', 'API_CLIENT', ?, 'Till', ?, ?, '{}')`,
  );
  const total = connection.prepare(
    `update rma_totals set count = count + case when status = @to then 1 else -1 end
     where shop_id = @shopId and status in (@to, @previous) and @to <> @previous`,
  );
  const move = connection.transaction((shopId: string, id: string, to: string) => {
    const before = get.get(id, shopId);
    if (!before) return undefined;
    // Strictly rising for each repair: its entries are told apart by their times.
    const now = Math.max(Date.now(), (before.updated_at as number) + 1);
    const counter = advance.get(now, shopId);
    const after = { ...before, status: to, status_since: now, updated_at: now };
    const eventId = newId(now);
    update.run(to, now, now, id);
    note.run(id, now, newId(now), before.receiver_id, before.status, to);
    log.run(shopId, counter?.last_position, eventId, id, MOVE_EVENT, now, moveEventOf(after, before.status));
    send.run(eventId, before.receiver_id, id, MOVE_EVENT, now, now);
    total.run({ shopId, to, previous: before.status });
    return after;
  }).immediate;

  const page = connection.prepare<[string], RepairRow>(
    `select ${columns} from offline_repairs where shop_id = ? order by number desc limit 20`,
  );
  return { create, move, get: (shopId, id) => get.get(id, shopId), page: (shopId) => page.all(shopId) };
};
