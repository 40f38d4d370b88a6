// engines: sqlite, postgres

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { addRules } from '../../../src/shops/dangerous-goods.ts';
import { type Endpoint, endpoints, type Ids, makeIds, refusalOf, rowCounts } from '../../support/api.ts';
import { withoutTrace } from '../../support/dump.ts';
import { effort } from '../../support/faults.ts';
import { type ApiResponse, ENGINE, type Harness, harness } from '../../support/harness.ts';
import { anything, type Bytes, goodBodies, ownBodies } from '../../support/random-bodies.ts';

// Whatever is sent to a POST endpoint, it is stored unchanged, or refused without a trace; a dry run foretells which.

type Json = Record<string, unknown>;

/** What is taken and refused does not depend on the engine (ADR 0029); whether it can be stored and read does. Creations are tried first. */
const batchesFor = ({ isCreation }: Endpoint): number => {
  if (isCreation) return ENGINE === 'sqlite' ? effort(25, 60) : 12;
  return ENGINE === 'sqlite' ? effort(8, 60) : effort(4, 8);
};
const BATCH = 20;

const textOf = (value: unknown): string | null =>
  value === undefined || value === null ? null : (value as string).trim() || null;

/** Exactly the number sent, but for the last bits that a sum in binary leaves behind. */
const expectNumber = (told: unknown, sent: unknown): void => {
  if (sent === undefined || sent === null) {
    expect(told).toBeNull();
    return;
  }
  const number = sent as number;
  const noise = Math.max(1e-12, 8 * Number.EPSILON * number);
  if (Number(number.toFixed(4)) === number) expect(told).toBe(number === 0 ? 0 : number);
  else expect(Math.abs((told as number) - number)).toBeLessThanOrEqual(noise);
};

/** Each of these texts is returned as it was sent, but for the space around it. */
const same = (names: string[], from: Json, to: Json): void => {
  const differing = names.filter((name) => to[name] !== textOf(from[name]));
  expect(differing.map((name) => [name, to[name]])).toEqual(
    differing.map((name) => [name, textOf(from[name])]),
  );
};

const ECHO: Record<string, (told: Json, sent: Json) => void> = {
  '/offline-repairs': (told, sent) => {
    const { faultyItem: item, tracking } = sent as { faultyItem: Json; tracking?: Json | null };
    const toldItem = told['faultyItem'] as Json;
    same(['orderNumber', 'customerEmail', 'customerName', 'customerPhone', 'faultDescription'], sent, told);
    same(['storeId', 'externalRef', 'externalSource', 'replacementSku', 'notes'], sent, told);
    same(['sku', 'productName', 'serialNumber', 'variantTitle'], item, toldItem);
    same(['trackingNumber', 'carrierName'], tracking ?? {}, told);
    for (const name of ['quantity', 'price', 'weight']) expectNumber(toldItem[name], item[name]);
    expect(toldItem['quantity']).toBeGreaterThan(0);
    expect(told['status']).toBe(sent['startStatus'] ?? 'OFFLINE_DIAGNOSTICS');
  },
  '/offline-repairs/{id}/tracking': (told, sent) => {
    expect(told['trackingNumber']).toBe(textOf(sent['trackingNumber']));
    expect(told['carrierName']).toBe(textOf(sent['carrierName']));
  },
  '/offline-repairs/{id}/begin-diagnostics': (told) => expect(told['status']).toBe('OFFLINE_DIAGNOSTICS'),
  '/offline-repairs/{id}/begin-repair': (told, sent) => {
    expect(told['status']).toBe('OFFLINE_REPAIR');
    for (const name of ['repairNotes', 'assignedToId'])
      if (textOf(sent[name]) !== null) expect(told[name]).toBe(textOf(sent[name]));
  },
  '/offline-repairs/{id}/resolve': (told, sent) => {
    expect(told['status']).toBe('OFFLINE_RESOLVED');
    expect(told['offlineDisposition']).toBe(sent['offlineDisposition']);
  },
  '/offline-repairs/{id}/close': (told) => expect(told['status']).toBe('OFFLINE_CLOSED'),
  '/trade-returns': (told, sent) => {
    const [items, toldItems] = [sent['items'] as Json[], told['items'] as Json[]];
    same(['tradeOrderNumber', 'customerEmail', 'customerName', 'customerPhone', 'companyName'], sent, told);
    same(['companyId', 'reason', 'customerNotes', 'faultDescription', 'additionalComment'], sent, told);
    same(['externalRef', 'externalSource'], sent, told);
    same(
      ['street', 'suburb', 'state', 'postcode'],
      sent['shippingAddress'] as Json,
      told['shippingAddress'] as Json,
    );
    expect(told['orderDate']).toBe(sent['orderDate'] ?? null);
    expect(told['status']).toBe('TRADE_SUBMITTED');
    expect(items.length).toBeLessThanOrEqual(250);
    expect(toldItems).toHaveLength(items.length);
    expect(toldItems).not.toEqual([]);
    for (const [index, item] of items.entries()) {
      const toldItem = toldItems[index] as Json;
      same(['sku', 'productName', 'variantTitle', 'tradeLineItemId'], item, toldItem);
      for (const name of ['quantity', 'price', 'weight']) expectNumber(toldItem[name], item[name]);
      expect(toldItem['quantity']).toBeGreaterThan(0);
    }
  },
};

const shown = (body: Bytes): string =>
  typeof body === 'string' ? body.slice(0, 600) : Buffer.from(body).toString('latin1').slice(0, 600);

/** A dry run takes what the real call takes, says what comes of it, and refuses everything else in the same words. */
const expectForetold = (dry: ApiResponse, real: ApiResponse): void => {
  if (real.status === 201) {
    const { status, isDangerous = null } = real.body;
    expect(dry).toHaveStatus(200);
    expect(dry.body).toEqual({ dryRun: true, status, isDangerous, remaining: null });
  } else expect(refusalOf(dry)).toEqual(refusalOf(real));
};

const expectFit = (
  { template, isCreation }: Endpoint,
  body: Bytes,
  response: ApiResponse,
  dry?: ApiResponse,
): void => {
  try {
    if (dry) expectForetold(dry, response);
    if (response.status >= 300) {
      expect(response).toHaveStatus(400, 413);
      expect(response).toFailWith(response.status);
      return;
    }
    expect(response).toHaveStatus(isCreation ? 201 : 200);
    // A byte order mark is not part of the text (RFC 8259, 8.1).
    const text = Buffer.from(body as string)
      .toString()
      .replace(/^\ufeff/, '');
    ECHO[template]?.(response.body, text === '' ? {} : JSON.parse(text));
  } catch (error) {
    throw new Error(`for the body ${shown(body)}`, { cause: error });
  }
};

const stateOf = async (t: Harness, ids: Ids) => {
  const row = (table: 'offline_repairs' | 'trade_returns', id: string) =>
    t.ctx.db
      .selectFrom(table as 'offline_repairs')
      .selectAll()
      .where('id', '=', id)
      .executeTakeFirstOrThrow();
  return {
    counts: await rowCounts(t),
    repair: await row('offline_repairs', ids['offline-repairs']),
    tradeReturn: await row('trade_returns', ids['trade-returns']),
  };
};

describe('random bodies', () => {
  it('have an arbitrary and an expected echo for every POST endpoint', async () => {
    const t = await harness();
    const posts = endpoints(t)
      .filter(({ method, isDryRun }) => method === 'POST' && !isDryRun)
      .map(({ template }) => template);
    expect(Object.keys(goodBodies).sort()).toEqual(posts.sort());
    expect(Object.keys(ECHO).sort()).toEqual(posts.sort());
  });

  it.each(Object.entries(goodBodies))(
    'at POST %s are stored unchanged or refused without a trace, as a dry run foretells',
    async (template, good) => {
      const t = await harness({ plan: 'ENTERPRISE', env: { LOG_LEVEL: 'fatal' } });
      const ids = await makeIds(t);
      const endpoint = endpoints(t).find(
        (each) => each.template === template && each.method === 'POST',
      ) as Endpoint;
      const patterns = [...'abcdefghijklm'].map((letter) => `${letter}*`);
      await addRules(t.ctx, t.ctx.db as never, t.shop.id, patterns);
      const sendAll = (path: string, bodies: Bytes[]) =>
        Promise.all(bodies.map((body) => t.post(path, body)));
      const batches = batchesFor(endpoint);
      const tally = { taken: 0, refused: 0 };
      const run = await fc.check(
        fc.asyncProperty(
          fc.array(anything(good, ownBodies[template]), { minLength: BATCH, maxLength: BATCH, size: 'max' }),
          async (bodies) => {
            const before = await stateOf(t, ids);
            const tried = endpoint.isCreation
              ? await withoutTrace(t, () => sendAll(`${template}/dry-run`, bodies))
              : [];
            const responses = await sendAll(endpoint.path(ids), bodies);
            for (const [index, response] of responses.entries())
              expectFit(endpoint, bodies[index] as Bytes, response, tried[index]);

            const taken = responses.filter(({ status }) => status < 300).length;
            tally.taken += taken;
            tally.refused += responses.length - taken;
            const after = await stateOf(t, ids);
            const created = endpoint.isCreation ? taken : 0;
            expect(after.counts).toEqual({
              repairs: before.counts.repairs + (endpoint.kind === 'offline-repairs' ? created : 0),
              returns: before.counts.returns + (endpoint.kind === 'trade-returns' ? created : 0),
              timeline: before.counts.timeline + taken,
              keys: 0,
              used: before.counts.used + created,
            });
            if (created === taken) expect(after.repair).toEqual(before.repair);
            expect(after.tradeReturn).toEqual(before.tradeReturn);
          },
        ),
        { numRuns: batches, endOnFailure: true },
      );
      // Without the whole counterexample, which can be megabytes; the cause shows the one body that mattered.
      if (run.failed)
        throw new Error(`seed ${run.seed}, path ${run.counterexamplePath}`, { cause: run.errorInstance });
      expect(tally.taken + tally.refused).toBe(batches * BATCH);
      // Both kinds really came: a generator that has gone stale must not pass for a service that holds.
      expect(tally.taken).toBeGreaterThan(batches);
      expect(tally.refused).toBeGreaterThan(batches);
    },
  );
});
