import { type RawBuilder, sql } from 'kysely';
import type { RelatedReturn, RelatedReturns } from '../../contract/admin-returns.ts';
import { rmaNumber } from '../../contract/common.ts';
import type { Db } from '../db/database.ts';
import { parseJsonColumn } from '../lib/json.ts';
import { toIso } from '../lib/time.ts';
import { viewRow } from '../paging/page-answer.ts';
import type { Context } from '../service/context.ts';
import type { Caller } from '../shops/plans.ts';
import { findRma, from, type ReturnRow, type RmaTableName } from './store.ts';

const MOST = 5;

interface RelatedValues {
  shop: string;
  /** Only what has a lower number came before. */
  number: number;
  serial: string | null;
  email: string;
  company: string | null;
}

const sameEmail = ({ email }: RelatedValues) => sql<boolean>`lower(customer_email) = lower(${email})`;
/** What makes another return related. Each is answered from an index that ends with the number. */
const MATCHES = {
  serial: ({ serial }) => sql<boolean>`serial_number = ${serial}`,
  email: sameEmail,
  company: ({ company }) => sql<boolean>`company_id = ${company}`,
  'email of another company': (values) =>
    sql<boolean>`${sameEmail(values)} and company_id <> ${values.company}`,
} satisfies Record<string, (values: RelatedValues) => RawBuilder<boolean>>;

interface Relation {
  table: RmaTableName;
  by: keyof typeof MATCHES;
}

/** In which column the title of a related return is found, and as which kind it is shown. */
const KINDS = {
  offline_repairs: { name: 'OFFLINE_REPAIR', titleColumn: 'faulty_item' },
  trade_returns: { name: 'TRADE_RETURN', titleColumn: 'company_name' },
} as const;

const newest = (db: Db, { table, by }: Relation, values: RelatedValues) => {
  const matching = from(db, table)
    .where('shop_id', '=', values.shop)
    .where(MATCHES[by](values))
    .where('number', '<', values.number);
  return matching
    .select(['id', 'number', 'status', 'customer_name', 'created_at'])
    .select(sql<string>`${sql.ref(KINDS[table].titleColumn)}`.as('title'))
    .select(matching.select((eb) => eb.fn.countAll<number>().as('total')).as('total'))
    .orderBy('number', 'desc')
    .limit(sql.lit(MOST))
    .$castTo<RelatedRow>()
    .execute();
};

type RelatedRow = Pick<ReturnRow, 'id' | 'number' | 'status' | 'customer_name' | 'created_at'> & {
  title: string;
  total: number;
};

const viewRelated = (table: RmaTableName, row: RelatedRow): RelatedReturn => ({
  kind: KINDS[table].name,
  id: row.id,
  rmaNumber: rmaNumber(row.number),
  status: row.status,
  title:
    table === 'offline_repairs' ? String(parseJsonColumn('faulty_item', row.title).productName) : row.title,
  customerName: row.customer_name,
  createdAt: toIso(row.created_at),
});

type Found = RelatedReturns['sameSerial'];

const find = async (ctx: Context, values: RelatedValues, relations: Relation[]): Promise<Found> => {
  const found = await Promise.all(
    relations.map(async (relation) => {
      const rows = await newest(ctx.db, relation, values);
      const view = (row: RelatedRow) => viewRelated(relation.table, row);
      const items = rows.flatMap((row) => viewRow(ctx, { name: 'related returns', view }, row) ?? []);
      return { items, total: rows[0]?.total ?? 0 };
    }),
  );
  return {
    items: found
      .flatMap(({ items }) => items)
      .sort((a, b) => b.createdAt.localeCompare(a.createdAt) || b.rmaNumber.localeCompare(a.rmaNumber))
      .slice(0, MOST),
    total: found.reduce((sum, { total }) => sum + total, 0),
  };
};

/** Each kind lacks a column of the other. */
type EitherRow = ReturnRow & { serial_number?: string | null; company_id?: string };

/** Earlier repairs of the same serial number, and earlier returns of the same customer or company. */
export const findRelated = async (
  ctx: Context,
  table: RmaTableName,
  caller: Caller,
  id: string,
): Promise<RelatedReturns> => {
  const row: EitherRow = await findRma(ctx, table, caller, id);
  const { serial_number: serial = null, company_id: company = null } = row;
  // All erased returns have one e-mail address.
  const email = row.erased_at === null ? row.customer_email : '';
  const values = { shop: caller.shop.id, number: row.number, serial, email, company };
  const [sameSerial, sameCustomer] = await Promise.all([
    find(ctx, values, serial === null ? [] : [{ table: 'offline_repairs', by: 'serial' }]),
    find(ctx, values, [
      { table: 'offline_repairs', by: 'email' },
      { table: 'trade_returns', by: company === null ? 'email' : 'email of another company' },
      ...(company === null ? [] : [{ table: 'trade_returns', by: 'company' } as const]),
    ]),
  ]);
  return { sameSerial, sameCustomer };
};
