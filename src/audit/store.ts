import type { AuditAction, AuditEntry, AuditSubjectType } from '../../contract/admin-people.ts';
import { type Actor, listEnvelope, type Page } from '../../contract/common.ts';
import { AUDIT_COLUMNS } from '../db/columns.ts';
import type { Db, Trx } from '../db/database.ts';
import { newId } from '../ids.ts';
import { instant } from '../instant.ts';

interface AuditRecord {
  shopId: string;
  at: number;
  actor: Actor;
  action: AuditAction;
  subject: { type: AuditSubjectType; id: string; name: string };
  data: Record<string, unknown>;
}

/** Written in the transaction of the change it tells of: none without the other. */
export const recordAudit = async (
  trx: Trx,
  { shopId, at, actor, action, subject, data }: AuditRecord,
): Promise<void> => {
  await trx
    .insertInto('audit_log')
    .values({
      id: newId(at),
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
    })
    .execute();
};

/** What of these fields is another value now; null where nothing is. */
export const changesBetween = <Thing extends object>(
  before: Thing,
  after: Thing,
  fields: readonly (keyof Thing & string)[],
): Record<string, { from: unknown; to: unknown }> | null => {
  const changed = fields.filter((field) => before[field] !== after[field]);
  return changed.length === 0
    ? null
    : Object.fromEntries(changed.map((field) => [field, { from: before[field], to: after[field] }]));
};

export const listAudit = async (db: Db, shopId: string, page: Page) => {
  const own = db.selectFrom('audit_log').where('shop_id', '=', shopId);
  const [rows, { total }] = await Promise.all([
    own
      .select(AUDIT_COLUMNS)
      .orderBy('id', 'desc')
      .limit(page.limit)
      .offset((page.page - 1) * page.limit)
      .execute(),
    own.select((eb) => eb.fn.countAll<number>().as('total')).executeTakeFirstOrThrow(),
  ]);
  const entries = rows.map(
    (row): AuditEntry => ({
      id: row.id,
      at: instant(row.at),
      actor: { type: row.actor_type, id: row.actor_id, name: row.actor_name },
      action: row.action,
      subject: { type: row.subject_type, id: row.subject_id, name: row.subject_name },
      data: JSON.parse(row.data),
    }),
  );
  return listEnvelope(entries, total, page);
};
