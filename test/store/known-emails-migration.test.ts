import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { migrateTo, SCHEMA_DIALECTS } from '../../src/db/migrate.ts';
import { hashPassword, hasPassword, isPassword } from '../../src/staff/passwords.ts';
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

it('people who joined through the provider before have no password any more, and all others keep theirs', async () => {
  const database = openOn(await emptyDatabase());
  const { db } = database;
  await migrateTo(db, { ...SCHEMA_DIALECTS[ENGINE], notice: () => {} }, '0006-identity-provider');
  await sql`insert into shops (id, name, plan, subscription, created_at, updated_at)
    values (${SHOP}, 'Shop', 'SCALE', 'active', 1, 1)`.execute(db);
  // What people whom the provider brought had before in place of a password, and a password.
  const none =
    '$argon2id$v=19$m=19456,t=2,p=1$JaFoHSX81SEUbXEyxpIqZw$WehpEXEXAUSCmIfIY2hkoKsrgpf5XM6ikaECUcWRRGE';
  const own = await hashPassword('a password from before');
  const people = [
    { id: `${PREFIX}a01`, subject: 's1', hash: none },
    { id: `${PREFIX}a02`, subject: 's2', hash: own },
    { id: `${PREFIX}a03`, subject: null, hash: own },
  ];
  for (const { id, subject, hash } of people)
    await sql`insert into users (id, shop_id, email, role, password_hash, created_at, provider_issuer, provider_subject)
      values (${id}, ${SHOP}, ${`${id}@example.com`}, 'STAFF', ${hash}, 1, ${subject && 'https://sso.example'}, ${subject})`.execute(
      db,
    );
  await database.migrate();
  const rows = await db.selectFrom('users').select('password_hash').orderBy('id').execute();
  expect(rows.map(({ password_hash }) => hasPassword(password_hash))).toEqual([false, false, true]);
  for (const [i, { password_hash }] of rows.entries())
    expect(await isPassword(password_hash, 'a password from before')).toBe(i === 2);
});
