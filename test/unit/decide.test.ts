import { describe, expect, it } from 'vitest';
import type { Caller } from '../../src/caller.ts';
import { ServiceError } from '../../src/errors.ts';
import type { Creation } from '../../src/rma/creation/creation.ts';
import { decide, HELD } from '../../src/rma/creation/decide.ts';
import type { Facts } from '../../src/rma/creation/read.ts';

const NOW = Date.parse('2026-11-15T10:00:00.000Z');

const callerOf = (shopId: string, limit: number | null): Caller => ({
  shop: {
    id: shopId,
    name: shopId,
    plan: 'SCALE',
    active: true,
    billing: { kind: 'ALLOWANCE', limit },
    secondFactorRequired: false,
    createdAt: 0,
  },
  actor: { type: 'API_CLIENT', id: 'client', name: 'Till' },
});

const creation = (id: string, shopId: string, limit: number | null = null, sku?: string): Creation => ({
  id,
  caller: callerOf(shopId, limit),
  use: null,
  nowMs: NOW,
  request: {
    kind: 'offline_repairs',
    path: 'offline-repairs',
    body: { externalRef: `ref-${id}`, externalSource: null },
    key: undefined,
    ...(sku === undefined ? {} : { sku }),
    make: (rma, isDangerous) =>
      ({
        row: { ...rma, status: 'OPEN' },
        answer: { number: rma.number, isDangerous },
        event: { name: 'offline_repair.created', data: {} },
      }) as never,
  },
});

const facts = (used: Record<string, number>): Facts => ({
  memory: { recall: () => null },
  counters: new Map(
    Object.entries(used).map(([shopId, count]) => [
      shopId,
      {
        shop_id: shopId,
        last_number: count,
        month: '2026-11',
        month_used: count,
        last_position: 0,
        last_at: 0,
      },
    ]),
  ),
  isDangerous: (_, sku) => sku === 'BATTERY',
});

describe('deciding on a batch of creations', () => {
  it('numbers each in its own shop and notes what the shop has used', () => {
    const { outcomes, counters } = decide(
      [creation('a', 'one'), creation('b', 'other'), creation('c', 'one')],
      facts({ one: 41, other: 7 }),
    );
    expect(outcomes).toEqual([
      { answer: { number: 42, isDangerous: false }, replayed: false },
      { answer: { number: 8, isDangerous: false }, replayed: false },
      { answer: { number: 43, isDangerous: false }, replayed: false },
    ]);
    expect(counters.get('one')).toMatchObject({ last_number: 43, month_used: 43 });
  });

  it('refuses those for whom there is no place, and takes none for them', () => {
    const { outcomes, changes, counters } = decide(
      [creation('a', 'one', 10), creation('b', 'one', 10)],
      facts({ one: 9 }),
    );
    expect(outcomes[1]).toBeInstanceOf(ServiceError);
    expect(changes).toHaveLength(1);
    expect(counters.get('one')).toMatchObject({ last_number: 10, month_used: 10 });
  });

  it('leaves a shop alone whose counters somebody holds', () => {
    const { outcomes, changes } = decide([creation('a', 'held'), creation('b', 'one')], facts({ one: 0 }));
    expect(outcomes[0]).toBe(HELD);
    expect(changes.map(({ rma }) => rma.id)).toEqual(['b']);
  });

  it('starts a month anew, and counts in none that is still to come', () => {
    const known = facts({ one: 5 });
    known.counters.set('one', {
      shop_id: 'one',
      last_number: 5,
      month: '2026-10',
      month_used: 5,
      last_position: 0,
      last_at: 0,
    });
    expect(decide([creation('a', 'one')], known).counters.get('one')).toMatchObject({
      month: '2026-11',
      month_used: 1,
    });
    known.counters.set('one', {
      shop_id: 'one',
      last_number: 5,
      month: '2026-12',
      month_used: 5,
      last_position: 0,
      last_at: 0,
    });
    // Further ahead than clocks can be apart: what was counted there belongs to this month.
    expect(decide([creation('a', 'one')], known).counters.get('one')).toMatchObject({
      month: '2026-11',
      month_used: 6,
    });
  });

  it('says what is dangerous, and changes nothing of what it is given', () => {
    const known = facts({ one: 1 });
    const { outcomes } = decide([creation('a', 'one', null, 'BATTERY')], known);
    expect(outcomes[0]).toMatchObject({ answer: { isDangerous: true } });
    expect(known.counters.get('one')).toMatchObject({ last_number: 1 });
  });
});
