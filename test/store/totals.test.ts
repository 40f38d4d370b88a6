import { expect, it } from 'vitest';
import { atOnce } from '../support/answers.ts';
import { expectError } from '../support/api.ts';
import { repairBody, tradeBody } from '../support/bodies.ts';
import { type Harness, harness } from '../support/harness.ts';

const kept = async ({ ctx }: Harness) =>
  (await ctx.db.selectFrom('rma_totals').selectAll().execute())
    .filter(({ count }) => count !== 0)
    .map(({ shop_id, kind, origin, status, count }) => [shop_id, kind, origin, status, count].join(' '))
    .sort();

const counted = async ({ ctx }: Harness) => {
  const lines: string[] = [];
  for (const kind of ['offline_repairs', 'trade_returns'] as const) {
    const rows = await ctx.db
      .selectFrom(kind as 'offline_repairs')
      .select(['shop_id', 'client_id', 'status'])
      .execute();
    const names = rows.map((row) =>
      [row.shop_id, kind, row.client_id === null ? 'STAFF' : 'API', row.status].join(' '),
    );
    for (const name of new Set(names))
      lines.push(`${name} ${names.filter((other) => other === name).length}`);
  }
  return lines.sort();
};

it('kept totals are what counting finds, after creations, moves, replays and refusals side by side', async () => {
  const t = await harness();
  const { client: other } = await t.addShop({ allowance: 3 });
  const moves = ['begin-diagnostics', 'begin-repair', 'close', 'close', 'tracking'];
  const bodies: Record<string, object> = { tracking: { trackingNumber: 'T', carrierName: 'C' } };
  await atOnce(25, async (i) => {
    const headers: Record<string, string> = i % 5 === 0 ? { 'idempotency-key': `key-${i % 10}` } : {};
    const { status, body } = await t.post('/offline-repairs', repairBody(), { headers });
    if (status !== 201) return;
    const move = moves[i % moves.length] as string;
    await t.post(`/offline-repairs/${body.id}/${move}`, bodies[move] ?? {});
    await t.post('/trade-returns', tradeBody());
  });
  const refused = await atOnce(5, () => t.post('/offline-repairs', repairBody(), { key: other.apiKey }));
  for (const answer of refused.filter(({ status }) => status !== 201))
    expectError(answer, 403, 'LIMIT_EXCEEDED');
  expect(refused.filter(({ status }) => status === 201)).toHaveLength(3);

  const totals = await kept(t);
  expect(totals).toEqual(await counted(t));
  expect(totals.length).toBeGreaterThan(4);
  const list = await t.get('/offline-repairs?status=OFFLINE_CLOSED&limit=1');
  expect(list.body.total).toBe(
    Number(
      totals
        .find((line) => line.includes('OFFLINE_CLOSED'))
        ?.split(' ')
        .at(-1),
    ),
  );
});
