import { describe, expect, it } from 'vitest';
import { repairBody } from '../support/bodies.ts';
import { NoAnswer } from '../support/http.ts';
import { lookInto, migratedDatabase, type ServerProcess, startServer } from '../support/process.ts';
import { makeShop } from '../support/shops.ts';
import { until } from '../support/until.ts';

const KILLS = 3;
const WRITERS = 6;
const ENOUGH = 40;

interface Repair {
  id: string;
  rmaNumber: string;
  externalRef: string;
  status: string;
}

/** Creates, and moves every other repair on, until the server is gone; keeps what was acknowledged. */
const write = async (
  server: ServerProcess,
  name: string,
  acknowledged: Map<string, Repair>,
): Promise<void> => {
  for (let i = 0; ; i++) {
    try {
      const created = await server.post('/offline-repairs', repairBody({ externalRef: `${name}-${i}` }));
      if (created.status !== 201) throw new Error(`answered ${created.status}`);
      acknowledged.set(created.body.id, created.body);
      if (i % 2 === 0) continue;
      const moved = await server.post(`/offline-repairs/${created.body.id}/begin-repair`);
      acknowledged.set(created.body.id, moved.body);
    } catch (error) {
      if (error instanceof NoAnswer) return;
      throw error;
    }
  }
};

describe('a server that is killed while it writes', () => {
  it('loses nothing that it acknowledged, and leaves nothing half done', async () => {
    const env = await migratedDatabase();
    const { key } = await makeShop(env, { allowance: 1_000_000 });
    const acknowledged = new Map<string, Repair>();
    for (let kill = 0; kill < KILLS; kill++) {
      const server = await startServer(env, { key });
      const enough = acknowledged.size + ENOUGH;
      const writers = Array.from({ length: WRITERS }, (_, i) => write(server, `${kill}-${i}`, acknowledged));
      await until('enough is written', () => acknowledged.size >= enough);
      expect((await server.stop('SIGKILL')).signal).toBe('SIGKILL');
      await Promise.all(writers);
    }

    const server = await startServer(env, { key });
    expect((await server.post('/offline-repairs', repairBody())).status).toBe(201);
    const db = lookInto(env);
    const rows = await db.selectFrom('offline_repairs').selectAll().execute();
    const entries = await db.selectFrom('timeline').selectAll().orderBy('at').execute();
    const byId = new Map(rows.map((row) => [row.id, row]));
    expect(acknowledged.size).toBeGreaterThanOrEqual(KILLS * ENOUGH);
    for (const { id, rmaNumber, externalRef, status } of acknowledged.values()) {
      const row = byId.get(id);
      expect(row).toMatchObject({
        number: Number(rmaNumber.replace('#RMA-', '')),
        external_ref: externalRef,
      });
      // A move whose answer was lost may have been made; one that was acknowledged must have been.
      if (status === 'OFFLINE_REPAIR') expect(row?.status).toBe(status);
    }
    for (const row of rows) {
      const own = entries.filter((entry) => entry.rma_id === row.id);
      const types = row.status === 'OFFLINE_REPAIR' ? ['CREATED', 'STATUS_CHANGED'] : ['CREATED'];
      expect(own.map((entry) => entry.type)).toEqual(types);
      expect(own.at(-1)?.at).toBe(row.updated_at);
    }
    expect(entries.every((entry) => byId.has(entry.rma_id))).toBe(true);
    expect(new Set(rows.map((row) => row.number)).size).toBe(rows.length);
    const counter = await db.selectFrom('shop_counters').selectAll().executeTakeFirstOrThrow();
    expect(counter.month_used).toBe(rows.length);
    expect(counter.last_number).toBe(Math.max(...rows.map((row) => row.number)));
  }, 90_000);

  it('has remembered an Idempotency-Key exactly where it created', async () => {
    const env = await migratedDatabase();
    const { key } = await makeShop(env);
    const server = await startServer(env, { key });
    const send = (to: ServerProcess, i: number) =>
      to.post('/offline-repairs', repairBody({ externalRef: `ref-${i}` }), {
        headers: { 'idempotency-key': `receipt-${i}` },
      });
    const first = await send(server, 0);
    const lost = Array.from({ length: 30 }, (_, i) => send(server, i + 1).catch(() => null));
    await lost[0];
    await server.stop('SIGKILL');
    await Promise.all(lost);

    // The caller sends everything again, and every receipt has one RMA.
    const again = await startServer(env, { key });
    for (let i = 0; i <= 30; i++) expect((await send(again, i)).status).toBe(201);
    expect((await send(again, 0)).body).toEqual(first.body);
    const { body } = await again.get('/offline-repairs?limit=100');
    expect(body.total).toBe(31);
    const counter = await lookInto(env).selectFrom('shop_counters').selectAll().executeTakeFirstOrThrow();
    expect(counter.month_used).toBe(31);
  });
});
