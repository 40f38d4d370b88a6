import { once } from 'node:events';
import { connect } from 'node:net';
import { sql } from 'kysely';
import { expect } from 'vitest';
import { BASE_PATH } from '../../contract/common.ts';
import { repairBody } from './bodies.ts';
import { type Answer, ENGINE } from './harness.ts';
import { type Env, lookInto, type ServerProcess } from './process.ts';

// Requests that are refused, for every reason there is, with a customer and secrets in every part of them.

/** What must never leave through a log, a figure or an error; each word is found nowhere else. */
export const PRIVATE = {
  email: 'quokka.private@customers.example',
  name: 'Quokka Privatissima',
  order: 'SO-QUOKKA-77',
  phone: '+61 400 987 123',
  text: 'quokka-free-text',
  reference: 'quokka-reference',
  query: 'quokka-query-value',
  idempotency: 'quokka-idempotency-key',
  password: 'quokka-password',
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

const rawBytes = async (server: ServerProcess, bytes: string): Promise<string> => {
  const socket = connect(server.port, '127.0.0.1');
  let answer = '';
  socket.setEncoding('utf8').on('data', (text) => {
    answer += text;
  });
  socket.on('error', () => {});
  socket.end(bytes);
  await once(socket, 'close');
  return answer;
};

const asText = { headers: { 'content-type': 'text/plain' } };

/** A request and the status that it gets; in this order, since the second depends on the first. */
const requests = (server: ServerProcess): [status: number, send: (id: string) => Promise<Answer>][] => {
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
export const provokeErrors = async (env: Env, server: ServerProcess, key: string): Promise<Answer[]> => {
  const refused: Answer[] = [];
  let id = '';
  for (const [status, send] of requests(server)) {
    const answer = await send(id);
    expect(answer.status).toBe(status);
    if (status === 201) id = answer.body.id;
    if (status >= 400) refused.push(answer);
  }
  const notHttp = await rawBytes(server, `GARBAGE ${PRIVATE.email} ${key}\r\n\r\n`);
  expect(notHttp).toMatch(/^HTTP\/1\.1 400 /);
  await refuseRepairs(env);
  const failed = await server.post('/offline-repairs', customer());
  expect(failed.status).toBe(500);
  // A 5xx says nothing about the inside.
  expect(JSON.stringify(failed.body)).not.toMatch(
    /trigger|sqlite|postgres|offline_repairs|refused|P0001|\.ts/i,
  );
  return [...refused, failed, { status: 400, headers: new Headers(), body: { text: notHttp } }];
};
