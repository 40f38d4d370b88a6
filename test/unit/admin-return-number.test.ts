import { expect, it } from 'vitest';
import { findByNumberToo, isNumber, withFullNumber } from '../../admin/src/returns/return-number.ts';

it.each(['1234', '#1234', 'rma-1234', '#RMA-1234', 'RMA 1234', '01234'])(
  '%s stands for a number of six digits',
  (typed) => {
    expect(isNumber('#RMA-001234', typed)).toBe(true);
    expect(isNumber('#RMA-012340', typed)).toBe(false);
  },
);

it.each(['SO-1234', '12 34', '1234a', '', '#', '-1234'])('%s does not stand for a number', (typed) => {
  expect(isNumber('#RMA-001234', typed)).toBe(false);
  expect(withFullNumber(typed)).toBe(typed);
});

it('a list is searched for a number with its prefix, and for digits anywhere', () => {
  expect(withFullNumber('#77')).toBe('#RMA-000077');
  expect(withFullNumber('77')).toBe('77');
  expect(withFullNumber('#RMA-000077')).toBe('#RMA-000077');
});

it('returns with the number precede those that contain the digits, each once', async () => {
  const byText: Record<string, { id: string }[]> = {
    '77': [{ id: 'order-77' }, { id: 'return-77' }],
    '#RMA-000077': [{ id: 'return-77' }],
  };
  const find = async (text: string) => byText[text] ?? [];
  expect(await findByNumberToo('77', find)).toEqual([{ id: 'return-77' }, { id: 'order-77' }]);
  expect(await findByNumberToo('SO-77', find)).toEqual([]);
});
