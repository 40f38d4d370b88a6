import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { createLeases } from '../../src/webhooks/worker/leases.ts';
import { due } from '../../src/webhooks/worker/queue.ts';
import { ENGINE } from '../support/harness.ts';
import { webhookHarness } from '../support/webhooks.ts';

// Each text of a statement takes one of the names under which statements are prepared, on every connection.

describe.runIf(ENGINE === 'postgres')('prepared statements of the dispatcher', () => {
  it('are few, however many receivers there are at once', async () => {
    const t = await webhookHarness({ sending: false });
    const clients: { clientId: string }[] = [];
    for (let i = 0; i < 32; i++) clients.push({ clientId: (await t.addReceiver('http://127.0.0.1:9/')).id });
    for (let count = 1; count <= clients.length; count++) {
      // One after another, so that all go over the same connection.
      const some = clients.slice(0, count);
      await createLeases(t.ctx).of(some);
      const openings = some.map((each) => ({ ...each, room: 8, underWay: [] }));
      await due(t.ctx, openings, t.ctx.clock.now());
    }
    const { rows } = await t.ctx.lightly((db) =>
      sql<{ statement: string }>`select statement from pg_prepared_statements`.execute(db),
    );
    const about = (table: string) => rows.filter(({ statement }) => statement.includes(table)).length;
    expect(about('webhook_leases')).toBe(1);
    expect(about('from "webhook_deliveries"')).toBeLessThanOrEqual(6);
  });
});
