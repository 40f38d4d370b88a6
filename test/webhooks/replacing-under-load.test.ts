import { expect, it } from 'vitest';
import { type NewApiClient, replaceClient } from '../../src/api-clients/actions.ts';
import { OPERATOR } from '../../src/audit/store.ts';
import { repairBody } from '../support/bodies.ts';
import { startReceiver } from '../support/receiver.ts';
import { webhookHarness } from '../support/webhooks.ts';

const WRITERS = 8;
const REPAIRS_EACH = 12;
const REPLACEMENTS = 6;

it('8 writers with two keys while both clients are replaced: no event is lost, none has two ids', async () => {
  const receivers = [await startReceiver(), await startReceiver()];
  const t = await webhookHarness();
  const current: NewApiClient[] = [];
  for (const { url } of receivers) current.push(await t.addReceiver(url));
  const changed = new Set<string>();

  /** Tries again with the key of the day, as a program does that is given a new one. */
  const insist = async (which: number, path: string, body?: unknown) => {
    for (;;) {
      const answer = await t.post(path, body, { key: (current[which] as NewApiClient).apiKey });
      if (answer.status === 200 || answer.status === 201) return answer.body;
      expect(answer.status).toBe(401);
    }
  };
  const write = async (writer: number) => {
    for (let i = 0; i < REPAIRS_EACH; i++) {
      const { id } = await insist((writer + i) % 2, '/offline-repairs', repairBody());
      changed.add(`offline_repair.created ${id}`);
      await insist(writer % 2, `/offline-repairs/${id}/close`);
      changed.add(`offline_repair.closed ${id}`);
    }
  };
  const replaceAll = async () => {
    for (let i = 0; i < REPLACEMENTS; i++) {
      const progress = ((i + 1) * WRITERS * REPAIRS_EACH * 2) / (REPLACEMENTS + 1);
      await expect
        .poll(() => changed.size, { timeout: 30_000, interval: 2 })
        .toBeGreaterThanOrEqual(progress);
      current[i % 2] = await replaceClient(t.ctx, OPERATOR, current[i % 2] as NewApiClient, {});
    }
  };
  await Promise.all([...Array.from({ length: WRITERS }, (_, writer) => write(writer)), replaceAll()]);
  await t.drained(30_000);

  const received = receivers.flatMap((receiver) => receiver.received);
  const idsOf = new Map<string, Set<unknown>>();
  for (const { body, headers } of received) {
    const name = `${body.event} ${body.data.id}`;
    idsOf.set(name, (idsOf.get(name) ?? new Set()).add(headers['x-webhook-id']));
  }
  expect(new Set(idsOf.keys())).toEqual(changed);
  expect([...idsOf.values()].every(({ size }) => size === 1)).toBe(true);
  const rows = await t.deliveries();
  expect(rows).toHaveLength(changed.size);
  expect(new Set(rows.map(({ status }) => status))).toEqual(new Set(['DELIVERED']));
  // Each went to the program whose client made the repair: its replacements have its URL.
  for (const [i, { received: own }] of receivers.entries())
    expect(own.length, `receiver ${i}`).toBeGreaterThanOrEqual(changed.size / 2);
});
