import { describe, expect, it } from 'vitest';
import { isTooFine, numberOf, type Reading, readNumber } from '../../admin/src/returns/new/read-number.ts';

const READINGS: [string, Reading][] = [
  ['1299', '1299'],
  [' 49.95 ', '49.95'],
  ['49,95', '49.95'],
  ['49,9', '49.9'],
  ['.5', '0.5'],
  [',5', '0.5'],
  ['5.', '5'],
  ['007', '7'],
  ['0', '0'],
  ['0,00', '0.00'],
  // One sign of each kind: the last one is in front of the decimals, whichever it is.
  ['1,299.00', '1299.00'],
  ['1.299,00', '1299.00'],
  ['1,299.000', '1299.000'],
  ['12.345.678,9', '12345678.9'],
  // A sign that occurs twice is not a decimal separator.
  ['1,299,000', '1299000'],
  ['1.299.000', '1299000'],
  ['12,34,567.50', '1234567.50'],
  ['1,29,900', '129900'],
  // Spaces and apostrophes.
  ['1 299', '1299'],
  ['1 299,00', '1299.00'],
  ['1\u00A0299,00', '1299.00'],
  ['1\u202F299,00', '1299.00'],
  ['1\u2009299.125', '1299.125'],
  ["1'299.00", '1299.00'],
  ['1’299’000', '1299000'],
  ["1'299,500", '1299.500'],
  // Currency signs.
  ['€ 1.299,00', '1299.00'],
  ['1.299,00 €', '1299.00'],
  ['$1,299.5', '1299.5'],
  // Three digits after the only sign.
  ['1,299', ['1299', '1.2990']],
  ['1.299', ['1299', '1.2990']],
  ['12,345', ['12345', '12.3450']],
  ['999.000', ['999000', '999.0000']],
  ['€1.299', ['1299', '1.2990']],
  // Thousands neither begin with nought nor have four digits in front of them.
  ['0.125', '0.125'],
  ['0,125', '0.125'],
  ['1299.125', '1299.125'],
  ['1,2990', '1.2990'],
  // A negative number is a number; the schema says that it is too small.
  ['-5', '-5'],
  ['−1,299.5', '-1299.5'],
  ['-1,299', ['-1299', '-1.2990']],
  // Not a number.
  ['', null],
  ['.', null],
  ['abc', null],
  ['12 pieces', null],
  ['1e5', null],
  ['12 34', null],
  ['1,2,3', null],
  ['1.29.900', null],
  ['1.2345,6', null],
  ['1,299.00.5', null],
  ['0,299,000', null],
  ['1.299 000', null],
  ['--5', null],
];

describe('a number that was typed', () => {
  it.each(READINGS)('%j is read as %j', (typed, reading) => {
    expect(readNumber(typed)).toEqual(reading);
  });

  it('is read the same again, so that leaving the input twice changes nothing', () => {
    for (const reading of READINGS.flatMap(([, result]) => result ?? []))
      expect(readNumber(reading)).toBe(reading);
  });

  it('is sent as a number, or unchanged if the schema should reject it', () => {
    expect(['1,299.00', '1,299', ' ', 'abc'].map((typed) => numberOf(typed))).toEqual([
      1299,
      '1,299',
      undefined,
      'abc',
    ]);
  });

  it('is a price in a currency, whose decimals make it unambiguous and limit it', () => {
    const inCents = ['1,299', '1.299', '1,299.00', '49,9', '49.900', '0.125', '12.3456'];
    expect(inCents.map((typed) => numberOf(typed, 2))).toEqual([
      1299,
      1299,
      1299,
      49.9,
      49900,
      '0.125',
      '12.3456',
    ]);
    expect(['0.1200', '0.125'].map((reading) => isTooFine(reading, 2))).toEqual([false, true]);
    expect([numberOf('1.299', 0), numberOf('12.5', 0), numberOf('1.299', 3)]).toEqual([
      1299,
      '12.5',
      '1.299',
    ]);
  });
});
