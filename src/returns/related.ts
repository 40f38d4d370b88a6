import { type RawBuilder, sql } from 'kysely';
import type { RelatedReturn, RelatedReturns } from '../../contract/admin-returns.ts';
import { rmaNumber } from '../../contract/common.ts';
import { type Engine, statement, statementsBy } from '../db/statements.ts';
import { parseJsonColumn } from '../lib/json.ts';
import { toIso } from '../lib/time.ts';
import { viewRow } from '../paging/page-answer.ts';
import type { Context } from '../service/context.ts';
import type { Caller } from '../shops/plans.ts';
import { findRma, from, type ReturnRow, type RmaTableName } from './store.ts';

/** So many of each sort are shown. */
const MOST = 5;

/** What makes another return related. Each is answered from an index that ends with the number. */
type By = 'serial' | 'email' | 'company' | 'email of another company';

interface Values {
  shop: string;
  /** Only what has a lower number came before. */
  number: number;
  serial: string | null;
  email: string;
  company: string | null;
}

const sameEmail = ({ email }: Values) => sql<boolean>`lower(customer_email) = lower(${email})`;
const MATCHES: Record<By, (values: Values) => RawBuilder<boolean>> = {
  serial: ({ serial }) => sql`serial_number = ${serial}`,
  email: sameEmail,
  company: ({ company }) => sql`company_id = ${company}`,
  'email of another company': (values) => sql`${sameEmail(values)} and company_id <> ${values.company}`,
};

interface Shape {
  table: RmaTableName;
  by: By;
}

const KINDS: Record<
  RmaTableName,
  { kind: RelatedReturn['kind']; titleColumn: string; title(stored: string): string }
> = {
  offline_repairs: {
    kind: 'OFFLINE_REPAIR',
    titleColumn: 'faulty_item',
    title: (item) => String(parseJsonColumn('faulty_item', item).productName),
  },
  trade_returns: { kind: 'TRADE_RETURN', titleColumn: 'company_name', title: (company) => company },
};

const matching = ({ db }: Engine, { table, by }: Shape, values: Values) =>
  from(db, table)
    .where('shop_id', '=', values.shop)
    .where(MATCHES[by](values))
    .where('number', '<', values.number);

const newest = statementsBy((shape: Shape) =>
  statement((engine, values: Values) =>
    matching(engine, shape, values)
      .select(['id', 'number', 'status', 'customer_name', 'created_at'])
      .select(sql<string>`${sql.ref(KINDS[shape.table].titleColumn)}`.as('title'))
      .orderBy('number', 'desc')
      .limit(sql.lit(MOST)),
  ),
);

const counted = statementsBy((shape: Shape) =>
  statement((engine, values: Values) =>
    matching(engine, shape, values).select((eb) => eb.fn.countAll<number>().as('total')),
  ),
);

type RelatedRow = Pick<ReturnRow, 'id' | 'number' | 'status' | 'customer_name' | 'created_at'> & {
  title: string;
};

const viewOf =
  (table: RmaTableName) =>
  (row: RelatedRow): RelatedReturn => ({
    kind: KINDS[table].kind,
    id: row.id,
    rmaNumber: rmaNumber(row.number),
    status: row.status,
    title: KINDS[table].title(row.title),
    customerName: row.customer_name,
    createdAt: toIso(row.created_at),
  });

type Found = RelatedReturns['sameSerial'];

const find = async (ctx: Context, shape: Shape, values: Values): Promise<Found> => {
  const { rows } = await ctx.db.executeQuery<RelatedRow>(ctx.fill(newest(shape), values));
  const source = { name: 'related returns', view: viewOf(shape.table) };
  const items = rows.flatMap((row) => viewRow(ctx, source, row) ?? []);
  if (rows.length < MOST) return { items, total: rows.length };
  const count = await ctx.db.executeQuery(ctx.fill(counted(shape), values));
  return { items, total: count.rows[0]?.total ?? items.length };
};

/** Ids and numbers rise together, and ids tell both kinds apart. */
const together = (found: Found[]): Found => ({
  items: found
    .flatMap(({ items }) => items)
    .sort((a, b) => b.createdAt.localeCompare(a.createdAt) || b.rmaNumber.localeCompare(a.rmaNumber))
    .slice(0, MOST),
  total: found.reduce((sum, { total }) => sum + total, 0),
});

/** Earlier repairs of the same serial number, and earlier returns of the same customer or company. */
export const findRelated = async (
  ctx: Context,
  table: RmaTableName,
  caller: Caller,
  id: string,
): Promise<RelatedReturns> => {
  // Each kind lacks a column of the other.
  const row = (await findRma(ctx, table, caller, id)) as ReturnRow<'offline_repairs'> & {
    company_id?: string;
  };
  const { serial_number: serial = null, company_id: company = null } = row;
  const values = { shop: caller.shop.id, number: row.number, serial, email: row.customer_email, company };
  const all = (shapes: Shape[]) => Promise.all(shapes.map((shape) => find(ctx, shape, values)));
  const tradeBy: By[] = company === null ? ['email'] : ['company', 'email of another company'];
  const [bySerial, byCustomer] = await Promise.all([
    all(serial === null ? [] : [{ table: 'offline_repairs', by: 'serial' }]),
    all([
      { table: 'offline_repairs', by: 'email' },
      ...tradeBy.map((by) => ({ table: 'trade_returns' as const, by })),
    ]),
  ]);
  return { sameSerial: together(bySerial), sameCustomer: together(byCustomer) };
};
