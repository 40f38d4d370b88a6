import { type Kysely, sql } from 'kysely';
import type { Tables } from '../schema.ts';
import type { Blocker } from '../types.ts';
import { OWN_NAME, READINESS_NAME } from './pools.ts';

// What other sessions of the server do: which of them hold locks that requests wait for, and how many connections are left. It never
// reads their statements, which may contain a customer's data.

/** The service's transactions are shorter, and shorter statements of other programs do not matter. */
const LONG_SECONDS = 2;
/** A session that is idle in a transaction for this long was probably forgotten. */
const FORGOTTEN_SECONDS = 60;

/** Finds sessions that others wait for, first those that do not wait themselves, and transactions that seem forgotten. */
export const findBlockers = async (db: Kysely<Tables>): Promise<Blocker[]> => {
  // By default a transaction sees the same statistics throughout.
  await sql`select pg_stat_clear_snapshot()`.execute(db);
  const { rows } = await sql<Blocker>`
    with waits as (
      select waiting.pid, waiting.application_name like ${`${OWN_NAME}%`} as is_own, by.pid as blocked_by
      from pg_stat_activity as waiting, unnest(pg_blocking_pids(waiting.pid)) as by(pid)
      where waiting.datname = current_database() and coalesce(waiting.wait_event_type, 'Lock') = 'Lock'
    ), blocking as (
      select blocked_by as pid, count(distinct pid) as blocks, count(distinct pid) filter (where is_own) as own
      from waits group by 1
    )
    select coalesce(session.pid, blocking.pid) as pid, coalesce(session.application_name, '') as application,
      session.state, floor(extract(epoch from session.xact_start) * 1000)::int8 as since,
      coalesce(blocking.blocks, 0)::int4 as blocks, coalesce(blocking.own, 0)::int4 as "blocksOwn",
      exists (select from waits where waits.pid = session.pid) as "waitsItself"
    from blocking full join (select * from pg_stat_activity where datname = current_database()) as session
      on session.pid = blocking.pid
    where (blocking.pid is not null
        and coalesce(session.xact_start < clock_timestamp() - make_interval(secs => ${LONG_SECONDS}), true))
      or (session.state like 'idle in transaction%' and session.application_name not like ${`${OWN_NAME}%`}
        and session.xact_start < clock_timestamp() - make_interval(secs => ${FORGOTTEN_SECONDS}))
    order by "waitsItself", blocks desc limit 10`.execute(db);
  return rows;
};

/** The number of connections that this installation's processes can have together, and the number of processes. */
export const connectionRoom = async (db: Kysely<Tables>): Promise<{ room: number; processes: number }> => {
  const { rows } = await sql<{ room: number; processes: number }>`
    with session as (
      select datname = current_database() as here, usename = current_user as same_role, application_name as name,
        datname = current_database() and usename = current_user and application_name like ${`${OWN_NAME}%`} as own
      from pg_stat_activity where datname is not null
    ), known as (
      select current_setting('max_connections')::int4 - current_setting('superuser_reserved_connections')::int4
          - coalesce(current_setting('reserved_connections', true), '0')::int4 - count(*) filter (where not own) as room,
        count(*) filter (where own and name = ${READINESS_NAME}) as processes,
        count(*) filter (where here and not own) as others_here,
        count(*) filter (where same_role and not own) as others_of_role
      from session
    )
    select least(room,
        (select nullif(datconnlimit, -1) - others_here from pg_database where datname = current_database()),
        (select nullif(rolconnlimit, -1) - others_of_role from pg_roles where rolname = current_user))::int4 as room,
      processes::int4 as processes
    from known`.execute(db);
  return rows[0] ?? { room: 0, processes: 0 };
};
