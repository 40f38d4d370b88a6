import { expect, it } from 'vitest';
import { type Reachable, recipientOf } from '../../src/webhooks/outbox.ts';

const reachable = (id: string, shop_id = 'shop', replaces: string | null = null): Reachable => ({
  id,
  shop_id,
  replaces,
});
const REPAIR = 'offline_repair.created';
const TRADE = 'trade_return.resolved';

it.each([REPAIR, TRADE] as const)('the creator is told of %s, also where others are older', (event) => {
  expect(recipientOf('shop', 'b', event, [reachable('a'), reachable('b')])).toBe('b');
});

it.each([REPAIR, TRADE] as const)('so is the client that replaced it, of %s', (event) => {
  expect(recipientOf('shop', 'b', event, [reachable('a'), reachable('c', 'shop', 'b')])).toBe('c');
});

it('where the creator cannot be reached, the oldest is told of a trade return, and nobody of a repair', () => {
  const others = [reachable('a'), reachable('c')];
  expect(recipientOf('shop', 'b', TRADE, others)).toBe('a');
  expect(recipientOf('shop', 'b', REPAIR, others)).toBeNull();
  expect(recipientOf('shop', 'b', TRADE, [])).toBeNull();
});

it('nobody of another shop is ever told', () => {
  const strangers = [reachable('x', 'other'), reachable('b', 'other'), reachable('y', 'other', 'b')];
  for (const event of [REPAIR, TRADE] as const) {
    expect(recipientOf('shop', 'b', event, strangers)).toBeNull();
    expect(recipientOf('shop', 'b', event, [...strangers, reachable('c', 'shop', 'b')])).toBe('c');
  }
  expect(recipientOf('shop', 'b', TRADE, [...strangers, reachable('a')])).toBe('a');
});
