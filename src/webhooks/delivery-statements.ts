import { type Expression, type ExpressionBuilder, type SelectQueryBuilder, type SqlBool, sql } from 'kysely';
import type { DeliveryStatus, Row, Tables } from '../db/schema.ts';
import { DELIVERY_COLUMNS } from '../db/schema.ts';
import { type Engine, statement, statementsBy } from '../db/statements.ts';
import { rowCount, type Sized, sizedColumns } from '../paging/row-size.ts';
import { FIRST_ATTEMPT, RETRY, wholeBody } from './queue.ts';

// The statements that show a client's deliveries.

export type DeliveryRow = Row<'webhook_deliveries'>;

const WITHOUT_BODY = DELIVERY_COLUMNS.filter((column) => column !== 'body');

/** A list with the bodies, for people, and one without them, for programs. */
const COLUMNS = {
  people: {
    all: DELIVERY_COLUMNS,
    longTexts: ['body'],
    behindFirst: ['status', 'attempts', 'attempt_log', 'due_at', 'created_at', 'finished_at', 'reason'],
  },
  programs: { all: WITHOUT_BODY, longTexts: ['attempt_log'] },
} as const;

/** What the text of the statements depends on. */
export interface Shape {
  readers: keyof typeof COLUMNS;
  /** In the text, as in `queue.ts`: those that wait and those that were dropped have indexes. */
  status: DeliveryStatus | undefined;
  ofEvent: boolean;
  ofRma: boolean;
}

interface Values {
  client: string;
  since: string;
  event: string | undefined;
  rma: string | undefined;
}

/** Each way uses the indexes there are. */
const OF_STATUS: Record<DeliveryStatus, (db: Engine['db'], client: string) => Expression<SqlBool>> = {
  PENDING: (db, client) => {
    const waiting = db.selectFrom('webhook_deliveries').select('id').where('client_id', '=', client);
    return sql`id in ${waiting.where(FIRST_ATTEMPT).unionAll(waiting.where(RETRY))}`;
  },
  DELIVERED: () => sql`status = 'DELIVERED'`,
  DROPPED: () => sql`status = 'DROPPED'`,
};

const withBodies = (eb: ExpressionBuilder<Tables, never>) =>
  eb
    .selectFrom('webhook_deliveries as delivery')
    .select(WITHOUT_BODY)
    .select(sql<string>`coalesce(${wholeBody('delivery')}, '')`.as('body'))
    .as('webhook_deliveries');

type Deliveries = SelectQueryBuilder<Tables, 'webhook_deliveries', object>;

const from = ({ db }: Engine, { readers }: Pick<Shape, 'readers'>): Deliveries =>
  readers === 'people' ? db.selectFrom(withBodies) : db.selectFrom('webhook_deliveries');

/** A client's deliveries since an id: ids rise with time. */
const matching = (engine: Engine, shape: Shape, { client, since, event, rma }: Values): Deliveries => {
  let found = from(engine, shape).where('client_id', '=', client).where('id', '>=', since);
  if (shape.status) found = found.where(OF_STATUS[shape.status](engine.db, client));
  if (shape.ofEvent) found = found.where('event', '=', event as DeliveryRow['event']);
  if (shape.ofRma) found = found.where('rma_id', '=', rma as string);
  return found;
};

interface PageValues extends Values {
  limit: number;
  offset: number;
  longest: number;
}

export const pageOfDeliveries = statementsBy((shape: Shape) =>
  statement((engine, params: PageValues) =>
    matching(engine, shape, params)
      .select(sizedColumns<keyof DeliveryRow>(COLUMNS[shape.readers], params.longest))
      .orderBy('id', 'desc')
      .limit(rowCount(params.limit))
      .offset(rowCount(params.offset))
      .$castTo<Sized<DeliveryRow>>(),
  ),
);

export const countOfDeliveries = statementsBy((shape: Shape) =>
  statement((engine, params: Values) =>
    matching(engine, shape, params).select((eb) => eb.fn.countAll<number>().as('total')),
  ),
);

/** Rows of a page, with all of their texts. */
export const deliveriesById = statementsBy((readers: Shape['readers']) =>
  statement((engine, { ids }: { ids: string[] }) =>
    from(engine, { readers })
      .select(COLUMNS[readers].all as readonly (keyof DeliveryRow)[])
      .where(sql<boolean>`id ${engine.oneOf('id', ids)}`)
      .$castTo<DeliveryRow>(),
  ),
);

export const oneDelivery = statement(
  ({ db }, { id, client, since }: { id: string; client: string; since: string }) =>
    db
      .selectFrom('webhook_deliveries')
      .select(WITHOUT_BODY)
      .select(wholeBody('webhook_deliveries').as('body'))
      .where('id', '=', id)
      .where('client_id', '=', client)
      .where('id', '>=', since),
);
