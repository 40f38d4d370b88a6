import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { BASE_PATH } from '../../contract/common.ts';
import { repairBody } from '../support/bodies.ts';
import { type Answer, ENGINE } from '../support/harness.ts';
import {
  type Env,
  lookInto,
  migratedDatabase,
  type ServerProcess,
  startServer,
  temporaryFolder,
  timed,
} from '../support/process.ts';
import { makeShop } from '../support/shops.ts';
import { until } from '../support/until.ts';

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
  password: 'quokka-password',
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

describe('logs', () => {
  it('are JSON lines that name each request, its route pattern and its status', async () => {
    const env = await migratedDatabase();
    const { shopId, clientId, key } = await makeShop(env);
    const server = await startServer(env, { key });
    const { body: repair } = await server.post('/offline-repairs', repairBody(), {
      headers: { 'x-request-id': 'till-4/88213' },
    });
    const missing = await server.get('/offline-repairs/not-an-id');
    const unknown = await server.get('/wp-login.php?email=ada@example.com');
    await server.get(`/offline-repairs/${repair.id}/timeline`);
    await until(
      'four requests are logged',
      () => server.logs().filter((l) => l.msg === 'request').length === 4,
    );
    const requests = server.logs().filter((line) => line.msg === 'request');
    const route = `${BASE_PATH}/offline-repairs`;
    expect(requests).toEqual([
      expect.objectContaining({ requestId: 'till-4/88213', method: 'POST', route, status: 201, shopId }),
      expect.objectContaining({
        requestId: missing.headers.get('x-request-id'),
        method: 'GET',
        route: `${route}/:id`,
        status: 404,
        actorId: clientId,
      }),
      expect.objectContaining({ requestId: unknown.body.requestId, method: 'GET', status: 404 }),
      expect.objectContaining({ method: 'GET', route: `${route}/:id/timeline`, status: 200 }),
    ]);
    expect(server.stdout).not.toContain('wp-login');
  });

  it('obey LOG_LEVEL', async () => {
    const env = await migratedDatabase();
    const quiet = await startServer({ ...env, LOG_LEVEL: 'silent' });
    expect((await quiet.get('/nowhere')).status).toBe(404);
    expect((await quiet.stop()).status).toBe(0);
    expect(quiet.stdout).toBe('');
  });

  it('hold nothing of a customer and no secret, nor do figures and error answers, whatever happens', async () => {
    const env = await migratedDatabase();
    const { key, webhookSecret } = await makeShop(env);
    const server = await startServer(
      { ...env, LOG_LEVEL: 'trace', METRICS_TOKEN: PRIVATE.password },
      { key },
    );
    const errors: Answer[] = [];
    const expectStatus = async (status: number, answer: Promise<Answer>) => {
      const got = await answer;
      expect(got.status).toBe(status);
      if (status >= 400) errors.push(got);
      return got;
    };
    const post = (body: unknown, options = {}) => server.post('/offline-repairs', body, options);
    const idempotent = { headers: { 'idempotency-key': PRIVATE.idempotency } };
    const wrongKey = `handback_ext_${'0123456789abcdef'.repeat(3)}`;

    const { body: repair } = await expectStatus(201, post(customer(), idempotent));
    await expectStatus(422, post(customer({ notes: PRIVATE.text }), idempotent));
    await expectStatus(
      200,
      server.get(`/offline-repairs?externalRef=${PRIVATE.query}&orderNumber=${PRIVATE.order}`),
    );
    const move = (action: string, body: unknown) =>
      server.post(`/offline-repairs/${repair.id}/${action}`, body);
    await expectStatus(
      200,
      move('tracking', { trackingNumber: PRIVATE.reference, carrierName: PRIVATE.name }),
    );
    await expectStatus(400, move('resolve', { offlineDisposition: PRIVATE.text, notes: PRIVATE.text }));
    await expectStatus(
      400,
      post(customer({ customerEmail: PRIVATE.name, customerPhone: 7, startStatus: PRIVATE.text })),
    );
    await expectStatus(
      400,
      post(customer({ customerName: PRIVATE.name.repeat(99), faultyItem: PRIVATE.text })),
    );
    await expectStatus(400, post(`{"customerEmail": "${PRIVATE.email}", "customerName": ${PRIVATE.name}`));
    await expectStatus(400, post(`"${PRIVATE.text}"`));
    await expectStatus(415, post(`email=${PRIVATE.email}`, { headers: { 'content-type': 'text/plain' } }));
    await expectStatus(413, post(customer({ notes: PRIVATE.text.repeat(20_000) })));
    await expectStatus(400, server.get(`/offline-repairs?status=${PRIVATE.query}&page=${PRIVATE.query}`));
    await expectStatus(
      400,
      server.get(`/offline-repairs?updatedSince=${PRIVATE.query}&email=${PRIVATE.email}`),
    );
    await expectStatus(404, server.get(`/offline-repairs/${PRIVATE.reference}`));
    await expectStatus(400, server.get(`/offline-repairs/${repair.id}?x=${PRIVATE.query}`));
    await expectStatus(404, server.get(`/customers/${PRIVATE.email}?name=${PRIVATE.query}`));
    await expectStatus(404, server.get(`${BASE_PATH}/offline-repairs/%zz${PRIVATE.reference}`));
    await expectStatus(405, server.send(`/offline-repairs?x=${PRIVATE.query}`, { method: 'DELETE' }));
    await expectStatus(401, server.get('/offline-repairs', { key: wrongKey }));
    await expectStatus(
      401,
      server.get('/offline-repairs', { headers: { authorization: `Bearer ${wrongKey}` } }),
    );
    await expectStatus(
      401,
      server.get('/metrics', { headers: { authorization: `Bearer ${PRIVATE.query}` } }),
    );
    const notHttp = await rawBytes(server, `GARBAGE ${PRIVATE.email} ${key}\r\n\r\n`);
    expect(notHttp).toMatch(/^HTTP\/1\.1 400 /);

    await refuseRepairs(env);
    await expectStatus(500, post(customer()));

    const metrics = await server.get('/metrics', {
      headers: { authorization: `Bearer ${PRIVATE.password}` },
    });
    expect(metrics.status).toBe(200);
    expect((await server.stop()).status).toBe(0);
    expect(server.logs().filter((line) => line.msg === 'request').length).toBeGreaterThan(15);
    expect(server.logs()).toContainEqual(expect.objectContaining({ level: 50, msg: 'request failed' }));
    const told = {
      logs: server.stdout + server.stderr,
      metrics: metrics.body as string,
      errors: errors.map((each) => JSON.stringify(each.body)).join('\n') + notHttp,
    };
    const secrets = [...Object.values(PRIVATE), key, wrongKey, webhookSecret, 'Quokka', 'quokka'];
    for (const [where, text] of Object.entries(told))
      for (const secret of secrets)
        for (const form of [secret, encodeURIComponent(secret)])
          expect(
            text.includes(form),
            `${where} hold ${form}: ${text.slice(Math.max(0, text.indexOf(form) - 200), text.indexOf(form) + 100)}`,
          ).toBe(false);
    for (const { body, status } of errors)
      expect(body).toMatchObject({ statusCode: status, requestId: expect.any(String) });
    // A 5xx says nothing about the inside.
    const inside = JSON.stringify(errors.filter((each) => each.status >= 500).map((each) => each.body));
    expect(inside).not.toMatch(/trigger|sqlite|postgres|offline_repairs|refused|P0001|\.ts/i);
  });
});

// No database takes part in it.
describe.runIf(ENGINE === 'sqlite')('standard output that takes nothing', () => {
  /** Answers requests, and stops, as if nothing were wrong. */
  const expectServed = async (server: ServerProcess) => {
    for (let i = 0; i < 50; i++) expect((await server.get('/nowhere')).status).toBe(404);
    const { value, ms } = await timed(() => server.get('/healthz'));
    expect(value.status).toBe(200);
    expect(ms).toBeLessThan(2_000);
    expect(await droppedLines(server)).toBeGreaterThan(0);
    const stopped = await timed(() => server.stop());
    expect(stopped.value).toEqual({ status: 0, signal: null });
    expect(stopped.ms).toBeLessThan(10_000);
  };
  const droppedLines = async (server: ServerProcess): Promise<number> => {
    const { body } = await server.get('/metrics', { ip: '127.0.0.1' });
    return Number(/^handback_log_lines_dropped_total (\d+)$/m.exec(body)?.[1]);
  };

  it('because the disk is full holds nobody up', async () => {
    const server = await startServer(await migratedDatabase(), { stdoutTo: '/dev/full' });
    await expectServed(server);
  });

  it('because its file may grow no further holds nobody up, and leaves whole lines', async () => {
    const file = join(temporaryFolder(), 'log');
    // SQLite's own files stay far below.
    const limit = { stdoutTo: file, fileSizeLimit: 2_000 };
    writeFileSync(file, `${'x'.repeat(2_000 * 512 - 3_001)}\n`);
    const server = await startServer(await migratedDatabase(), limit);
    await expectServed(server);
    const lines = readFileSync(file, 'utf8').split('\n').slice(1, -1);
    expect(lines.length).toBeGreaterThan(5);
    for (const line of lines) expect(() => JSON.parse(line)).not.toThrow();
  });

  it('because its reader is gone holds nobody up', async () => {
    const server = await startServer(await migratedDatabase());
    server.output.destroy();
    await expectServed(server);
  });

  it('because its reader sleeps holds nobody up, and takes no more than a little memory', async () => {
    const server = await startServer(await migratedDatabase());
    server.output.pause();
    // About 300 bytes a line: some megabytes, where a pipe takes 64 KiB and 2 MiB may wait.
    const headers = { 'x-request-id': 'x'.repeat(128) };
    for (let i = 0; i < 160; i++)
      await Promise.all(Array.from({ length: 50 }, () => server.get('/nowhere', { headers })));
    await expectServed(server);
  });
});
