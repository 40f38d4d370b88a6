import type { AuditAction, AuditEntry, AuditSubjectType } from '../../contract/admin-people.ts';
import type { Actor, Page } from '../../contract/common.ts';
import { columnsOf, type Row } from '../db/schema.ts';
import type { Db } from '../db/types.ts';
import { newId } from '../lib/ids.ts';
import { parseJsonColumn } from '../lib/json.ts';
import { toIso } from '../lib/time.ts';
import type { PagingServices } from '../paging/services.ts';
import type { Core } from '../platform/core.ts';

/** Who acts and, in the admin app, from which address. The audit log stores both. */
export type AuditActor = Actor & { address?: string };

export const OPERATOR: Actor = { type: 'SYSTEM', id: null, name: 'operator' };

/** Somebody who failed to sign in or requested a link, of whom only the address is known. */
export const UNKNOWN_PERSON: Actor = { type: 'SYSTEM', id: null, name: 'unknown person' };

export interface AuditRecord {
  shopId: string;
  at: number;
  actor: AuditActor;
  action: AuditAction;
  subject: { type: AuditSubjectType; id: string; name: string };
  data: Record<string, unknown>;
}

export const auditRow = ({ shopId, at, actor, action, subject, data }: AuditRecord, id = newId(at)) => ({
  id,
  shop_id: shopId,
  at,
  actor_type: actor.type,
  actor_id: actor.id,
  actor_name: actor.name,
  action,
  subject_type: subject.type,
  subject_id: subject.id,
  subject_name: subject.name,
  data: JSON.stringify(data),
  address: actor.address ?? null,
});

export const aboutShop = ({ id, name }: { id: string; name: string }) => ({
  shopId: id,
  subject: { type: 'SHOP', id, name } as const,
});

/** Must run in the transaction of the change. With the id of an earlier entry, it replaces the data of that one. */
export const recordAudit = async (db: Db, record: AuditRecord, id?: string): Promise<void> => {
  const row = auditRow(record, id);
  const insertion = db.insertInto('audit_log').values(row);
  await insertion.onConflict((conflict) => conflict.column('id').doUpdateSet({ data: row.data })).execute();
};

export const recordShopAudit = (
  { clock }: Pick<Core, 'clock'>,
  db: Db,
  { shop, actor }: { shop: { id: string; name: string }; actor: AuditActor },
  action: AuditAction,
  data: AuditRecord['data'],
  id?: string,
): Promise<void> => recordAudit(db, { ...aboutShop(shop), at: clock.now(), actor, action, data }, id);

const SHOPS_AT_ONCE = 200;

export const recordForAllShops = async (
  db: Db,
  { at, action, data }: Pick<AuditRecord, 'at' | 'action' | 'data'>,
): Promise<void> => {
  const shops = await db.selectFrom('shops').select(['id', 'name']).execute();
  const rows = shops.map((shop) => auditRow({ ...aboutShop(shop), at, actor: OPERATOR, action, data }));
  while (rows.length > 0) await db.insertInto('audit_log').values(rows.splice(0, SHOPS_AT_ONCE)).execute();
};

export const changesBetween = <Thing extends object>(
  before: Thing,
  after: Thing,
  fields: readonly (keyof Thing & string)[] = Object.keys(after) as (keyof Thing & string)[],
): Record<string, { from: unknown; to: unknown }> | null => {
  const changed = fields.filter((field) => before[field] !== after[field]);
  return changed.length === 0
    ? null
    : Object.fromEntries(changed.map((field) => [field, { from: before[field], to: after[field] }]));
};

const viewEntry = (row: Row<'audit_log'>): AuditEntry => ({
  id: row.id,
  at: toIso(row.at),
  actor: { type: row.actor_type, id: row.actor_id, name: row.actor_name },
  action: row.action,
  subject: { type: row.subject_type, id: row.subject_id, name: row.subject_name },
  data: parseJsonColumn('data', row.data),
  address: row.address,
});

export const listAudit = async (ctx: PagingServices, shopId: string, page: Page) => {
  const ownIn = (db: Db) => db.selectFrom('audit_log').where('shop_id', '=', shopId);
  // The count reads as many entries as there are, and a deep page those before it.
  const own = ownIn(ctx.scans);
  // The rows follow in chunks, since an entry may contain a whole list of rules before and after it was replaced.
  const [found, { total }] = await Promise.all([
    own
      .select('id')
      .orderBy('id', 'desc')
      .limit(page.limit)
      .offset((page.page - 1) * page.limit)
      .execute(),
    own.select((eb) => eb.fn.countAll<number>().as('total')).executeTakeFirstOrThrow(),
  ]);
  const source = {
    name: 'audit_log',
    view: viewEntry,
    keyOf: ({ id }: Row<'audit_log'>) => id,
    readRows: (ids: string[]) =>
      ownIn(ctx.db).select(columnsOf('audit_log')).where('id', 'in', ids).execute(),
  };
  return ctx.pageResponses.build(shopId, source, { rows: [], keys: found.map(({ id }) => id), total }, page);
};
