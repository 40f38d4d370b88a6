import { describe, expect, it } from 'vitest';
import { code128Values, code128Widths } from '../../admin/src/ui/slip/code128.ts';

const PRINTABLE = String.fromCharCode(...Array.from({ length: 95 }, (_, index) => 32 + index));

/** Reads the widths back as a scanner does: symbols of eleven modules, each known by its pattern. */
const patternOf = (character: string): string => code128Widths(character).slice(6, 12).join('');
const byPattern = new Map([...PRINTABLE].map((character) => [patternOf(character), character]));
const read = (widths: number[]): string => {
  let text = '';
  for (let at = 6; at < widths.length - 13; at += 6)
    text += byPattern.get(widths.slice(at, at + 6).join('')) ?? '?';
  return text;
};

describe('Code 128', () => {
  it('has start, text, check and stop', () => {
    // The worked example of the standard, with start B instead of A: one more in the sum, one more in the check.
    expect(code128Values('PJJ123C')).toEqual([104, 48, 42, 42, 17, 18, 19, 35, 55, 106]);
  });

  it('draws the patterns of the standard', () => {
    expect(code128Widths('A').join('')).toBe(['211214', '111323', '131123', '2331112'].join(''));
  });

  it('gives every character its own pattern of eleven modules, with an even number of them in bars', () => {
    expect(byPattern.size).toBe(PRINTABLE.length);
    for (const pattern of byPattern.keys()) {
      const widths = [...pattern].map(Number);
      const bars = widths.filter((_, index) => index % 2 === 0);
      expect(widths.reduce((sum, width) => sum + width)).toBe(11);
      expect(bars.reduce((sum, width) => sum + width) % 2).toBe(0);
    }
  });

  it('is read back as written', () => {
    for (const text of ['#RMA-000123', '#RMA-1234567', PRINTABLE])
      expect(read(code128Widths(text))).toBe(text);
  });

  it('rejects characters that it cannot encode', () => {
    expect(() => code128Widths('é')).toThrow(RangeError);
    expect(() => code128Widths('')).toThrow(RangeError);
  });
});
