// engines: sqlite, postgres

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { ADMIN_BASE_PATH } from '../../../contract/admin-people.ts';
import { BASE_PATH } from '../../../contract/common.ts';
import { overSocket } from '../../support/api.ts';
import { repairBody, tradeBody } from '../../support/bodies.ts';
import { effort, measured } from '../../support/faults.ts';
import { type ApiResponse, ENGINE } from '../../support/harness.ts';
import { backupAsText, databaseAsText, foundIn, type PrivateValues } from '../../support/private-values.ts';
import {
  type Env,
  lookInto,
  migratedDatabase,
  run,
  SENDING,
  type ServerProcess,
  startAll,
  temporaryFolder,
} from '../../support/process.ts';
import { startReceiver } from '../../support/receiver.ts';
import { appCode } from '../../support/second-factor.ts';
import { addPerson, makeShop, type SignedIn, signIn } from '../../support/shops.ts';
import { mailServer, tokenIn } from '../../support/smtp.ts';
import { scaled } from '../../support/until.ts';

// Requests that are refused, for every reason there is, with a customer and secrets in every part of them.

/** What must never leave through a log, a figure or an error; each word is found nowhere else. */
const PRIVATE = {
  email: 'quokka.private@customers.example',
  name: 'Quokka Privatissima',
  order: 'SO-QUOKKA-77',
  phone: '+61 400 987 123',
  text: 'quokka-free-text',
  reference: 'quokka-reference',
  query: 'quokka-query-value',
  idempotency: 'quokka-idempotency-key',
  password: 'quokka-passphrase',
  wrongKey: `handback_ext_${'0123456789abcdef'.repeat(3)}`,
};

const customer = (more: Record<string, unknown> = {}) =>
  repairBody({
    orderNumber: PRIVATE.order,
    customerEmail: PRIVATE.email,
    customerName: PRIVATE.name,
    customerPhone: PRIVATE.phone,
    faultDescription: PRIVATE.text,
    externalRef: PRIVATE.reference,
    ...more,
  });

/** A database that refuses every new repair, and quotes the customer while it does. */
const refuseRepairs = async (env: Env): Promise<void> => {
  const db = lookInto(env);
  if (ENGINE === 'sqlite') {
    await sql`create trigger refuse before insert on offline_repairs begin
      select raise(abort, 'refused: quokka.private@customers.example, Quokka Privatissima'); end`.execute(db);
    return;
  }
  await sql`create function refuse() returns trigger language plpgsql as $$ begin
    raise exception 'refused: %', new.customer_email using detail = row_to_json(new)::text; end $$`.execute(
    db,
  );
  await sql`create trigger refuse before insert on offline_repairs
    for each row execute function refuse()`.execute(db);
};

const asText = { headers: { 'content-type': 'text/plain' } };

/** A request and the status that it gets; in this order, since the second depends on the first. */
const requests = (server: ServerProcess): [status: number, send: (id: string) => Promise<ApiResponse>][] => {
  const post = (body: unknown, options = {}) => server.post('/offline-repairs', body, options);
  const get = (path: string, options = {}) => server.get(path, options);
  const idempotent = { headers: { 'idempotency-key': PRIVATE.idempotency } };
  const { text, name, email, query, reference, order, wrongKey } = PRIVATE;
  return [
    [201, () => post(customer(), idempotent)],
    [422, () => post(customer({ notes: text }), idempotent)],
    [200, () => get(`/offline-repairs?externalRef=${query}&orderNumber=${order}`)],
    [
      200,
      (id) =>
        server.post(`/offline-repairs/${id}/tracking`, { trackingNumber: reference, carrierName: name }),
    ],
    [400, (id) => server.post(`/offline-repairs/${id}/resolve`, { offlineDisposition: text, notes: text })],
    [400, () => post(customer({ customerEmail: name, customerPhone: 7, startStatus: text }))],
    [400, () => post(customer({ customerName: name.repeat(99), faultyItem: text }))],
    [400, () => post(`{"customerEmail": "${email}", "customerName": ${name}`)],
    [400, () => post(`"${text}"`)],
    [415, () => post(`email=${email}`, asText)],
    [413, () => post(customer({ notes: text.repeat(20_000) }))],
    [400, () => get(`/offline-repairs?status=${query}&page=${query}`)],
    [400, () => get(`/offline-repairs?updatedSince=${query}&email=${email}`)],
    [404, () => get(`/offline-repairs/${reference}`)],
    [400, (id) => get(`/offline-repairs/${id}?x=${query}`)],
    [404, () => get(`/customers/${email}?name=${query}`)],
    [404, () => get(`${BASE_PATH}/offline-repairs/%zz${reference}`)],
    [405, () => server.send(`/offline-repairs?x=${query}`, { method: 'DELETE' })],
    [401, () => get('/offline-repairs', { key: wrongKey })],
    [401, () => get('/offline-repairs', { headers: { authorization: `Bearer ${wrongKey}` } })],
    [401, () => get('/metrics', { headers: { authorization: `Bearer ${query}` } })],
  ];
};

/** Sends all of them, as the server's own client. The database refuses repairs from then on. */
const provokeErrors = async (env: Env, server: ServerProcess, key: string): Promise<ApiResponse[]> => {
  const refused: ApiResponse[] = [];
  let id = '';
  for (const [status, send] of requests(server)) {
    const response = await send(id);
    expect(response).toHaveStatus(status);
    if (status === 201) id = response.body.id;
    if (status >= 400) refused.push(response);
  }
  const notHttp = await overSocket(server.url, `GARBAGE ${PRIVATE.email} ${key}\r\n\r\n`);
  expect(notHttp).toHaveStatus(400);
  await refuseRepairs(env);
  const failed = await server.post('/offline-repairs', customer());
  expect(failed).toHaveStatus(500);
  // A 5xx reveals no internals.
  expect(JSON.stringify(failed.body)).not.toMatch(
    /trigger|sqlite|postgres|offline_repairs|refused|P0001|\.ts/i,
  );
  return [...refused, failed, { ...notHttp, body: [notHttp.body, ...notHttp.headers] }];
};

const KEYS = effort(4, 100);
const PEOPLE = effort(1, 10);

/** In the clear nowhere at all; of customers and people in the database and its backups, and nowhere else. */
interface Private {
  secrets: PrivateValues;
  customers: PrivateValues;
}

const answered = (status: number, response: ApiResponse): ApiResponse['body'] => {
  expect(response).toHaveStatus(status);
  return response.body;
};

/** A program gets a key, and does with it what programs do, for a customer of its own. */
const workWithNewKey = async (
  servers: ServerProcess[],
  admin: SignedIn,
  n: number,
  webhookUrl: string,
  { secrets, customers }: Private,
) => {
  const [one, other] = [servers[n % servers.length], servers[(n + 1) % servers.length]] as [
    ServerProcess,
    ServerProcess,
  ];
  const { apiKey, webhookSecret } = answered(
    201,
    await admin.post(one, '/clients', { name: `Program ${n}`, webhookUrl }),
  );
  secrets.set(apiKey, 'an API key').set(webhookSecret, 'a webhook secret');
  const customer = {
    customerName: `Numbat Marsupialis-${n}x`,
    customerEmail: `numbat${n}x@customers.example`,
    customerPhone: `+61 491 57${String(n).padStart(4, '0')}`,
  };
  const serialNumber = `NUMBAT-SERIAL-${n}X`;
  for (const value of Object.values(customer)) customers.set(value, 'a customer');
  customers.set(serialNumber, 'a serial number');
  const options = { key: apiKey };
  const item = { ...repairBody().faultyItem, serialNumber };
  const { id } = answered(
    201,
    await one.post('/offline-repairs', repairBody({ ...customer, faultyItem: item }), options),
  );
  answered(201, await other.post('/trade-returns', tradeBody(customer), options));
  answered(200, await other.post(`/offline-repairs/${id}/close`, undefined, options));
  answered(200, await one.get(`/offline-repairs?serialNumber=${serialNumber}`, options));
  const search = encodeURIComponent(customer.customerEmail);
  answered(200, await admin.get(other, `/offline-repairs?q=${search}`));
};

/** A person is invited, chooses a password, gets a second factor, signs in with all of it, and forgets the password. */
const letIn = async (server: ServerProcess, admin: SignedIn, n: number, { secrets, customers }: Private) => {
  const post = (path: string, body: unknown, cookie?: string) =>
    server.post(`${ADMIN_BASE_PATH}${path}`, body, { key: null, headers: cookie ? { cookie } : {} });
  const email = `bilby${n}x@staff.example`;
  const password = `bilby-password-${n}x`;
  customers.set(email, 'a person’s address');
  const invited = answered(
    201,
    await admin.post(server, '/users', { email, name: `Bilby Macrotis-${n}x`, role: 'STAFF' }),
  );
  const token = tokenIn(invited.link);
  answered(401, await post('/session', { email, password: `wrong-${password}` }));
  answered(200, await post('/links/use', { token, password }));
  const again = answered(201, await admin.post(server, `/users/${invited.id}/link`));
  const { cookie } = await signIn(server, { email, password });
  const { secret } = answered(201, await post('/session/second-factor', {}, cookie));
  const { recoveryCodes } = answered(
    200,
    await post('/session/second-factor/confirm', { code: appCode(secret, Date.now()) }, cookie),
  );
  answered(200, await post('/session', { email, password, code: recoveryCodes[0] }));
  answered(401, await post('/session', { email, password, code: recoveryCodes[0] }));
  answered(202, await post('/password-links', { email }));
  for (const code of recoveryCodes) secrets.set(code, 'a recovery code');
  secrets
    .set(token, 'a link')
    .set(tokenIn(again.link), 'a link')
    .set(secret, 'the secret of a second factor');
  secrets.set(password, 'a password').set(cookie.split('=')[1] ?? '', 'a session');
};

const backedUp = async (env: Env): Promise<string> => {
  const file = join(temporaryFolder(), 'backup');
  expect((await run(['backup', file], env)).status).toBe(0);
  return backupAsText(file);
};

const secretKeyOf = (env: Env): string => {
  const file = join(env['DATA_DIR'] ?? '', 'secret.key');
  return (existsSync(file) ? readFileSync(file, 'utf8') : (env['SECRET_KEY'] ?? '')).trim();
};

it('private values of keys, customers and users are only found where they belong', {
  timeout: scaled(300_000),
}, async () => {
  const mails = await mailServer();
  const database = await migratedDatabase();
  const { shopId, key, webhookSecret } = await makeShop(database);
  const settings = { ...mails.env, ...SENDING, LOG_LEVEL: 'trace', METRICS_TOKEN: PRIVATE.password };
  const servers = await startAll({ ...database, ...settings }, key);
  const server = servers[0] as ServerProcess;
  const values: Private = { secrets: new Map(), customers: new Map() };
  values.secrets.set(key, 'an API key').set(webhookSecret, 'a webhook secret');
  values.secrets.set(secretKeyOf(database), 'the secret key').set(PRIVATE.wrongKey, 'a wrong key');
  values.secrets.set(PRIVATE.password, 'the token for metrics');

  // Every other response is a failure, and every other mail is refused, in words that repeat whom it is for.
  const receiver = await startReceiver((n) => (n % 2 === 0 ? 500 : 200));
  mails.responses.push(...Array.from({ length: 4 * PEOPLE }, (_, n) => (n % 2 === 0 ? 550 : null)));
  const admin = await signIn(server, await addPerson(database, shopId, 'ADMIN'));
  values.secrets.set(admin.cookie.split('=')[1] ?? '', 'a session');
  // The shop has a key already, and may have no more than this.
  for (let n = 1; n < KEYS; n++) await workWithNewKey(servers, admin, n, receiver.url, values);
  for (let n = 0; n < PEOPLE; n++) await letIn(server, admin, n, values);
  await receiver.got(KEYS);

  const errors = await provokeErrors(database, server, key);
  const authorised = { headers: { authorization: `Bearer ${PRIVATE.password}` } };
  const figures = await Promise.all(servers.map((each) => each.get('/metrics', authorised)));
  const backup = await backedUp(database);
  for (const each of servers) expect((await each.stop()).status).toBe(0);
  const stored = await databaseAsText(database);

  const outside = {
    logs: servers.map(({ stdout, stderr }) => stdout + stderr).join('\n'),
    metrics: figures.map((response) => answered(200, response)).join('\n'),
    errors: errors.map(({ body }) => JSON.stringify(body)).join('\n'),
  };
  const everything = new Map([
    ...values.secrets,
    ...values.customers,
    ...Object.values(PRIVATE).map((value) => [value, 'a customer'] as const),
  ]);
  for (const [where, text] of Object.entries(outside)) expect(foundIn(text, everything), where).toEqual([]);
  for (const [where, text] of Object.entries({ stored, backup }))
    expect(foundIn(text, values.secrets), where).toEqual([]);

  // The search finds what is there: each customer in the database and its backup, each request in the logs.
  for (const text of [stored, backup])
    for (const one of values.customers) expect(foundIn(text, new Map([one]))).not.toEqual([]);
  expect(outside.logs.match(/"msg":"request"/g)?.length).toBeGreaterThan(6 * KEYS);
  expect(/a mail could not be sent/.test(outside.logs)).toBe(true);
  measured(
    17,
    `${values.secrets.size} secrets and ${values.customers.size} values of customers, looked for in logs, metrics, error bodies, the database and a backup: 0 found where they do not belong`,
  );
});
