import { expect, it } from 'vitest';
import { cursorOf, positionOf } from '../../src/events/feed.ts';

const SHOP = '019a8c1e-7a54-7cc1-9a3e-5b1f0c7d2e44';
const made = (text: string): string => Buffer.from(text).toString('base64url');

it('a cursor leads back to its position, in its own shop only', () => {
  for (const position of [0, 1, 41, 999_999_999_999_999]) {
    const cursor = cursorOf(SHOP, position);
    expect(cursor).toMatch(/^[\w-]+$/);
    expect(positionOf(SHOP, cursor)).toBe(position);
    expect(positionOf('another shop', cursor)).toBeNull();
  }
});

it('what was cut, lengthened, changed or made up is no cursor', () => {
  const cursor = cursorOf(SHOP, 1234);
  const [position, check] = Buffer.from(cursor, 'base64url').toString().split('.') as [string, string];
  expect(check).toMatch(/^[0-9a-f]{8}$/);
  const others = [
    '',
    'x',
    cursor.slice(0, -1),
    cursor.slice(1),
    `${cursor}A`,
    `${cursor}=`,
    ` ${cursor}`,
    made(`${position}.`),
    made(position),
    made(`0${position}.${check}`),
    made(`1235.${check}`),
    made(`${position}.${check}0`),
    made(`${position}.${check}.${check}`),
    made(`-${position}.${check}`),
    made(`x${position}.${check}`),
    cursorOf(SHOP, 1_000_000_000_000_000),
  ];
  expect(others.filter((other) => positionOf(SHOP, other) !== null)).toEqual([]);
});
