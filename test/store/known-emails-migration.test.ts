import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { migrateTo, SCHEMA_DIALECTS } from '../../src/db/migrate.ts';
import { openOn } from '../support/database.ts';
import { ENGINE } from '../support/harness.ts';
import { emptyDatabase } from '../support/process.ts';

const PREFIX = '019a8c1e-7a54-7cc1-9a3e-5b1f0c7d2';
const [SHOP, ADMIN] = [`${PREFIX}f01`, `${PREFIX}a00`];

const emailChanged = '{"email":{"from":"a@example.com","to":"b@example.com"}}';
/** Who changed what about them before: themselves their email, an Admin their email, themselves their name. */
const PEOPLE = [
  { id: `${PREFIX}a01`, actor: `${PREFIX}a01`, data: emailChanged, byHolder: 1 },
  { id: `${PREFIX}a02`, actor: ADMIN, data: emailChanged, byHolder: 0 },
  { id: `${PREFIX}a03`, actor: `${PREFIX}a03`, data: '{"name":{"from":null,"to":"Grace"}}', byHolder: 0 },
];

it('people who changed their own email before are not joined by it, and all others are', async () => {
  const database = openOn(await emptyDatabase());
  const { db } = database;
  await migrateTo(db, { ...SCHEMA_DIALECTS[ENGINE], notice: () => {} }, '0006-identity-provider');
  await sql`insert into shops (id, name, plan, subscription, created_at, updated_at)
    values (${SHOP}, 'Shop', 'SCALE', 'active', 1, 1)`.execute(db);
  for (const { id, actor, data } of PEOPLE) {
    await sql`insert into users (id, shop_id, email, role, password_hash, created_at)
      values (${id}, ${SHOP}, ${`${id}@example.com`}, 'STAFF', 'x', 1)`.execute(db);
    await sql`insert into audit_log (id, shop_id, at, actor_type, actor_id, actor_name, action, subject_type, subject_id, subject_name, data)
      values (${id.replace('7d2a', '7d2e')}, ${SHOP}, 1, 'USER', ${actor}, 'A', 'USER_CHANGED', 'USER', ${id}, 'A', ${data})`.execute(
      db,
    );
  }
  await database.migrate();
  const rows = await db.selectFrom('users').select(['id', 'email_by_holder']).orderBy('id').execute();
  expect(rows.map(({ email_by_holder }) => email_by_holder)).toEqual(PEOPLE.map(({ byHolder }) => byHolder));
});
