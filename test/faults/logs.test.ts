import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { BASE_PATH } from '../../contract/common.ts';
import { expectWithin } from '../support/faults.ts';
import { type Harness, harness } from '../support/harness.ts';
import {
  fullAfter,
  migratedDatabase,
  type ServerProcess,
  startServer,
  temporaryFolder,
  timed,
} from '../support/process.ts';
import { atOnce } from '../support/responses.ts';
import { startShop } from '../support/shops.ts';
import { until } from '../support/until.ts';

describe('logs', () => {
  it('are JSON lines that name each request, its route pattern and its status', async () => {
    const { server, shopId, clientId } = await startShop();
    const { body: repair } = await server.create({}, { headers: { 'x-request-id': 'till-4/88213' } });
    const missing = await server.get('/offline-repairs/not-an-id');
    const unknown = await server.get('/wp-login.php?email=ada@example.com');
    await server.get(`/offline-repairs/${repair.id}/timeline`);
    const requests = await until('four requests are logged', () => {
      const logged = server.logs().filter(({ msg }) => msg === 'request');
      return logged.length === 4 && logged;
    });
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

  it('contain health checks only if they fail, or at debug', async () => {
    const harnessOf = (LOG_LEVEL: string) => harness({ env: { LOG_LEVEL } });
    const logged = async (t: Harness) => {
      for (const path of ['/healthz', '/readyz']) await t.get(path, { key: null, unchecked: true });
      t.app.connections.isDraining = true;
      expect(await t.get('/readyz', { key: null, unchecked: true })).toHaveStatus(503);
      const requests = () => t.logs.map((line) => JSON.parse(line)).filter(({ msg }) => msg === 'request');
      await until('the last one is logged', () => requests().some(({ status }) => status === 503));
      return requests().map(({ route, status, level }) => [route, status, level]);
    };
    const failed = ['/readyz', 503, 30];
    expect(await logged(await harnessOf('info'))).toEqual([failed]);
    const succeeded = [
      ['/healthz', 200, 20],
      ['/readyz', 200, 20],
    ];
    expect(await logged(await harnessOf('debug'))).toEqual([...succeeded, failed]);
  });

  it('obey LOG_LEVEL', async () => {
    const quiet = await startServer(await migratedDatabase({ LOG_LEVEL: 'silent' }));
    expect(await quiet.get('/nowhere')).toHaveStatus(404);
    expect((await quiet.stop()).status).toBe(0);
    expect(quiet.stdout).toBe('');
  });
});

describe('blocked standard output', () => {
  const expectServed = async (server: ServerProcess) => {
    for (let i = 0; i < 50; i++) expect(await server.get('/nowhere')).toHaveStatus(404);
    const { value, ms } = await timed(() => server.get('/healthz'));
    expect(value).toHaveStatus(200);
    expectWithin(ms, 2_000);
    expect(await droppedLines(server)).toBeGreaterThan(0);
    const stopped = await timed(() => server.stop());
    expect(stopped.value).toEqual({ status: 0, signal: null });
    expectWithin(stopped.ms, 10_000);
  };
  const droppedLines = async (server: ServerProcess): Promise<number> => {
    const { body } = await server.get('/metrics', { ip: null });
    return Number(/^handback_log_lines_dropped_total (\d+)$/m.exec(body)?.[1]);
  };

  it('delays no request if the disk is full', async () => {
    const server = await startServer(await migratedDatabase(), { shell: 'exec >>/dev/full' });
    await expectServed(server);
  });

  it('delays no request if its file has reached its limit, and leaves complete lines', async () => {
    const file = join(temporaryFolder(), 'log');
    // SQLite's own files stay far below.
    const limit = { shell: `${fullAfter(2_000)}; exec >>${file}` };
    writeFileSync(file, `${'x'.repeat(2_000 * 512 - 3_001)}\n`);
    const server = await startServer(await migratedDatabase(), limit);
    await expectServed(server);
    const lines = readFileSync(file, 'utf8').split('\n').slice(1, -1);
    expect(lines.length).toBeGreaterThan(5);
    for (const line of lines) expect(() => JSON.parse(line)).not.toThrow();
  });

  it('delays no request if its reader has gone', async () => {
    const server = await startServer(await migratedDatabase());
    server.output.destroy();
    await expectServed(server);
  });

  it('delays no request if its reader sleeps, and uses little memory', async () => {
    const server = await startServer(await migratedDatabase());
    server.output.pause();
    // About 300 bytes a line: some megabytes, where a pipe takes 64 KiB and 2 MiB may wait.
    const headers = { 'x-request-id': 'x'.repeat(128) };
    for (let i = 0; i < 160; i++) await atOnce(50, () => server.get('/nowhere', { headers }));
    await expectServed(server);
  });
});
