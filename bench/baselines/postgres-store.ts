import pg from 'pg';
import { newId } from '../../src/lib/ids.ts';
import { eventOf, MOVE_EVENT, REPAIR_COLUMNS, type RepairRow } from './repair.ts';
import type { Store } from './store.ts';

const POOL_SIZE = 10;
const BIGINT = 20;
/** Stands in the event's body until the counter has said which number it is. */
const UNKNOWN_NUMBER = '#RMA-000000';

const parameter = (column: string, i: number): string => (column === 'number' ? 'last_number' : `$${i + 1}`);
const [ENTRY_ID, EVENT_ID, EVENT_START, EVENT_END] = [1, 2, 3, 4].map((i) => `$${REPAIR_COLUMNS.length + i}`);

// $1 is the repair's id, $2 the shop, $3 the client, $5 the status, $24 the time; $4, the number, is the counter's to say.
const CREATE = `
  with counter as (
    update shop_counters set last_number = last_number + 1, month_used = month_used + 1,
      last_position = last_position + 1, last_at = $24
    where shop_id = $2 returning last_number, last_position
  ), repair as (
    insert into offline_repairs (${REPAIR_COLUMNS.join(', ')})
    select ${REPAIR_COLUMNS.map(parameter).join(', ')} from counter returning number
  ), entry as (
    insert into timeline (rma_id, at, id, type, actor_type, actor_id, actor_name, to_status, data)
    values ($1, $24, ${ENTRY_ID}, 'CREATED', 'API_CLIENT', $3, 'Till', $5, '{}')
  ), event as (
    insert into events (shop_id, position, id, rma_id, event, at, body)
    select $2, last_position, ${EVENT_ID}, $1, 'offline_repair.created', $24,
      ${EVENT_START} || '#RMA-' || lpad(last_number::text, 6, '0') || ${EVENT_END}
    from counter
  ), delivery as (
    insert into webhook_deliveries
      (id, receiver_id, rma_id, event, body, status, attempts, attempt_log, due_at, created_at)
    values (${EVENT_ID}, $3, $1, 'offline_repair.created', '', 'PENDING', 0, '[]', $24, $24)
  )
  select number from repair where $4::text is null`;

// $1 is the repair's id, $2 the shop, $3 the status, $4 the time, $5 the entry's id, $6 the event's, $7 the time as events have it.
// The counter is locked first, so that two moves of one repair cannot wait for each other.
const MOVE = `
  with counter as (
    update shop_counters set last_position = last_position + 1, last_at = $4 where shop_id = $2 returning last_position
  ), before as (
    select status, greatest($4, updated_at + 1) as at from counter, offline_repairs
    where id = $1 and shop_id = $2 for update of offline_repairs
  ), repair as (
    update offline_repairs set status = $3, status_since = before.at, updated_at = before.at from before where id = $1
    returning ${REPAIR_COLUMNS.map((column) => `offline_repairs.${column}`).join(', ')}, before.status as previous
  ), entry as (
    insert into timeline (rma_id, at, id, type, actor_type, actor_id, actor_name, from_status, to_status, data)
    select $1, updated_at, $5, 'STATUS_CHANGED', 'API_CLIENT', receiver_id, 'Till', previous, $3, '{}' from repair
  ), event as (
    insert into events (shop_id, position, id, rma_id, event, at, body)
    select $2, last_position, $6, $1, '${MOVE_EVENT}', updated_at,
      json_build_object('event', '${MOVE_EVENT}', 'timestamp', $7::text, 'data', json_build_object(
        'id', id, 'rmaNumber', '#RMA-' || lpad(number::text, 6, '0'), 'externalRef', external_ref,
        'externalSource', external_source, 'status', $3, 'previousStatus', previous, 'assignedToId', assigned_to_id))::text
    from counter, repair
  ), delivery as (
    insert into webhook_deliveries
      (id, receiver_id, rma_id, event, body, status, attempts, attempt_log, due_at, created_at)
    select $6, receiver_id, $1, '${MOVE_EVENT}', '', 'PENDING', 0, '[]', $4, $4 from repair
  ), total as (
    update rma_totals set count = count + case when status = $3 then 1 else -1 end
    where shop_id = $2 and status in (select $3 union all select previous from repair)
      and exists (select from repair where previous <> $3)
  )
  select ${REPAIR_COLUMNS.join(', ')} from repair`;
const GET = `select ${REPAIR_COLUMNS.join(', ')} from offline_repairs where id = $1 and shop_id = $2`;
const PAGE = `select ${REPAIR_COLUMNS.join(', ')} from offline_repairs where shop_id = $1 order by number desc limit 20`;

export const openPostgresStore = (address: string): Store => {
  pg.types.setTypeParser(BIGINT, Number);
  const pool = new pg.Pool({ connectionString: address, max: POOL_SIZE });
  const query = async (name: string, text: string, values: unknown[]): Promise<RepairRow[]> =>
    (await pool.query({ name, text, values })).rows;
  return {
    async create(repair) {
      const [start, end] = eventOf(repair).split(UNKNOWN_NUMBER);
      const now = repair.created_at as number;
      const values = REPAIR_COLUMNS.map((column) => (column === 'number' ? null : repair[column]));
      const [row] = await query('create', CREATE, [...values, newId(now), newId(now), start, end]);
      repair.number = row?.number as number;
    },
    async move(shopId, id, status) {
      const now = Date.now();
      const values = [id, shopId, status, now, newId(now), newId(now), new Date(now).toISOString()];
      return (await query('move', MOVE, values))[0];
    },
    get: async (shopId, id) => (await query('get', GET, [id, shopId]))[0],
    page: (shopId) => query('page', PAGE, [shopId]),
  };
};
