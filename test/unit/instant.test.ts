import { fc, test } from '@fast-check/vitest';
import { expect } from 'vitest';
import { instant } from '../../src/instant.ts';

test.prop([fc.date({ min: new Date(0), max: new Date('9999-12-31T23:59:59.999Z'), noInvalidDate: true })])(
  'tells a time as Date does',
  (date) => {
    expect(instant(date.getTime())).toBe(date.toISOString());
  },
);
