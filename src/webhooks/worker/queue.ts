import { sql } from 'kysely';
import type { WebhookEventName } from '../../../contract/webhook-event.ts';
import type { Context } from '../../context.ts';
import { type Engine, statement, statementsBy } from '../../db/statements.ts';
import { type Attempt, readAttempts } from '../attempts.ts';
import { DROPPED_BECAUSE } from '../drop-reasons.ts';
import { FIRST_ATTEMPT, PENDING, RETRY, wholeBody } from '../queue.ts';

// What the dispatcher asks of the queue, on the webhooks' own connections. A delivery is PENDING until it ends as DELIVERED
// or DROPPED. Only the process that holds the lease of its receiver sends it.

type Needed = Pick<Context, 'withoutFsync' | 'fill'>;

/** What is due. */
export interface Due {
  id: string;
  clientId: string;
  event: WebhookEventName;
  /** The bytes that are sent; null: they cannot be read. */
  body: Buffer | null;
  /** How many attempts there were. */
  before: number;
  /** null: they cannot be read. */
  attempts: Attempt[] | null;
  createdAt: number;
}

/** A receiver that may have so many more under way, beside those that are. */
export interface Opening {
  clientId: string;
  room: number;
  /** Ids of what is under way already. */
  underWay: string[];
}

/** One step through the index a receiver, however much waits for it. */
const receiversOf = (which: typeof RETRY) => sql`
  with recursive receivers(client_id) as (
    select (select client_id from webhook_deliveries where ${which} order by client_id limit 1)
    union all
    select (
      select client_id from webhook_deliveries
      where ${which} and client_id > receivers.client_id order by client_id limit 1
    ) from receivers where client_id is not null
  )`;

/** Receivers that first attempts wait for, and those that retries wait for, with the times of the first and last of these. */
export const waitingReceivers = async ({ withoutFsync: db }: Pick<Context, 'withoutFsync'>) => {
  const ofRetries = (which: 'min' | 'max') => sql`(
    select ${sql.raw(which)}(due_at) from webhook_deliveries where ${RETRY} and client_id = receivers.client_id
  )`;
  const [first, again] = await Promise.all([
    sql<{ client_id: string }>`
      ${receiversOf(FIRST_ATTEMPT)}
      select client_id from receivers where client_id is not null`.execute(db),
    sql<{ client_id: string; first_due: number | null; last_due: number | null }>`
      ${receiversOf(RETRY)}
      select client_id, ${ofRetries('min')} as first_due, ${ofRetries('max')} as last_due
      from receivers where client_id is not null`.execute(db),
  ]);
  return {
    firstAttempts: first.rows.map((row) => row.client_id),
    retries: again.rows.flatMap(({ client_id, first_due, last_due }) =>
      // Between the two looks the last one may have been settled.
      first_due === null || last_due === null
        ? []
        : [{ clientId: client_id, firstDueAt: first_due, lastDueAt: last_due }],
    ),
  };
};

/** Statements over several receivers are built for 1, 2, 4 … of them: few texts, each prepared once. */
const paddedTo2n = (openings: Opening[]): Opening[] => {
  const padded = [...openings];
  while ((padded.length & (padded.length - 1)) !== 0) padded.push({ ...(openings[0] as Opening), room: 0 });
  return padded;
};
/** The parameters of the first, second … receiver. */
type OpeningValues = Record<`client${number}`, string> &
  Record<`room${number}`, number> &
  Record<`underWay${number}`, string[]>;

const valuesOf = (openings: Opening[]): OpeningValues =>
  Object.fromEntries(
    openings.flatMap(({ clientId, room, underWay }, i) => [
      [`client${i}`, clientId],
      [`room${i}`, room],
      [`underWay${i}`, underWay],
    ]),
  );

const DUE_COLUMNS = ['id', 'client_id', 'event', 'body', 'attempts', 'attempt_log', 'created_at'] as const;

/** Up to `room` due deliveries of each receiver: first attempts and retries in the order in which they fell due. */
export const due = async (
  { withoutFsync, fill }: Needed,
  openings: Opening[],
  nowMs: number,
): Promise<Due[]> => {
  if (openings.length === 0) return [];
  const padded = paddedTo2n(openings);
  const { rows } = await withoutFsync.executeQuery(
    fill(dueOfEach(padded.length), { ...valuesOf(padded), nowMs }),
  );
  return rows.map((row) => ({
    id: row.id,
    clientId: row.client_id,
    event: row.event,
    body: row.body === null ? null : Buffer.from(row.body, 'utf8'),
    before: row.attempts,
    attempts: readAttempts(row.attempt_log),
    createdAt: row.created_at,
  }));
};

const waitingFor = ({ db, oneOf }: Engine, params: OpeningValues, i: number) =>
  db
    .selectFrom('webhook_deliveries')
    .where('client_id', '=', params[`client${i}`] ?? '')
    .where(sql<boolean>`not (id ${oneOf('id', params[`underWay${i}`] ?? [])})`);

const dueOfEach = statementsBy((receivers: number) =>
  statement((engine, params: OpeningValues & { nowMs: number }) => {
    const some = (i: number) =>
      waitingFor(engine, params, i)
        .select([...DUE_COLUMNS, 'due_at'])
        .orderBy('due_at')
        .limit(params[`room${i}`] ?? 0);
    const dueOf = (i: number) =>
      engine.db
        .selectFrom((eb) =>
          eb
            .selectFrom(some(i).where(FIRST_ATTEMPT).as('first'))
            .select([...DUE_COLUMNS, 'due_at'])
            .unionAll(
              eb
                .selectFrom(some(i).where(RETRY).where('due_at', '<=', params.nowMs).as('again'))
                .select([...DUE_COLUMNS, 'due_at']),
            )
            .orderBy('due_at')
            .limit(params[`room${i}`] ?? 0)
            .as('due'),
        )
        .select(DUE_COLUMNS.filter((column) => column !== 'body'))
        .select(wholeBody('due').as('body'));
    let all = dueOf(0);
    for (let i = 1; i < receivers; i++) all = all.unionAll(dueOf(i));
    return all;
  }),
);

const nextRetryOfEach = statementsBy((receivers: number) =>
  statement((engine, params: OpeningValues) => {
    const nextOf = (i: number) =>
      waitingFor(engine, params, i)
        .select((eb) => [
          sql<string>`${params[`client${i}`]}`.as('client_id'),
          eb.fn.min<number | null>('due_at').as('due_at'),
        ])
        .where(RETRY);
    let all = nextOf(0);
    for (let i = 1; i < receivers; i++) all = all.unionAll(nextOf(i));
    return all;
  }),
);

/** When the next retry of each of these receivers is due, beside what is under way. */
export const nextDue = async (
  { withoutFsync, fill }: Needed,
  openings: Opening[],
): Promise<{ clientId: string; dueAt: number }[]> => {
  if (openings.length === 0) return [];
  const padded = paddedTo2n(openings);
  const { rows } = await withoutFsync.executeQuery(fill(nextRetryOfEach(padded.length), valuesOf(padded)));
  return rows.flatMap(({ client_id, due_at }) =>
    due_at === null ? [] : [{ clientId: client_id, dueAt: due_at }],
  );
};

/** Makes retries due now whose time lies further ahead than it can: the clock that wrote it was wrong (decision 82). */
export const bringForward = async (
  { withoutFsync: db, oneOf }: Pick<Context, 'withoutFsync' | 'oneOf'>,
  clientIds: string[],
  { nowMs, furtherThanMs }: { nowMs: number; furtherThanMs: number },
): Promise<void> => {
  await db
    .updateTable('webhook_deliveries')
    .set({ due_at: nowMs })
    .where(RETRY)
    .where(sql<boolean>`client_id ${oneOf('id', clientIds)}`)
    .where('due_at', '>', furtherThanMs)
    .execute();
};

/** Bounded, so that nobody waits long; whoever finds another one that is too old asks again. */
const DROPPED_AT_ONCE = 5_000;

/** Drops what waited too long for one receiver, in one statement; returns how many (decision 84). */
export const dropTooOld = async (
  { withoutFsync: db, oneOf, among }: Pick<Context, 'withoutFsync' | 'oneOf' | 'among'>,
  { clientId, underWay }: Pick<Opening, 'clientId' | 'underWay'>,
  { nowMs, beforeMs }: { nowMs: number; beforeMs: number },
): Promise<number> => {
  const old = (which: typeof RETRY) =>
    db
      .selectFrom('webhook_deliveries')
      .select('id')
      .where(which)
      .where('client_id', '=', clientId)
      .where('created_at', '<', beforeMs)
      .where(sql<boolean>`not (id ${oneOf('id', underWay)})`)
      .orderBy('due_at')
      .limit(DROPPED_AT_ONCE);
  const { numUpdatedRows } = await db
    .updateTable('webhook_deliveries')
    .set({ status: 'DROPPED', finished_at: nowMs, reason: DROPPED_BECAUSE.tooOld })
    .where('status', '=', PENDING)
    .where(sql<boolean>`(id ${among(old(FIRST_ATTEMPT))} or id ${among(old(RETRY))})`)
    .executeTakeFirst();
  return Number(numUpdatedRows);
};
