import { describe, expect, it } from 'vitest';
import { csvCell, csvText } from '../../admin/src/returns/list/csv.ts';

describe('CSV', () => {
  it.each([
    ['plain', 'plain'],
    ['a,b', '"a,b"'],
    ['say "hi"', '"say ""hi"""'],
    ['two\nlines', '"two\nlines"'],
    ['semi;colon', '"semi;colon"'],
    ['=1+1', "'=1+1"],
    ['+44 20', "'+44 20"],
    ['-2', "'-2"],
    ['@sum', "'@sum"],
    ['\t=1', '"\'\t=1"'],
    [' =1', "' =1"],
    ['＝1', "'＝1"],
    ['=HYPERLINK("x","y")', '"\'=HYPERLINK(""x"",""y"")"'],
    [-2.5, '-2.5'],
    [0, '0'],
    [true, 'true'],
    [null, ''],
  ])('writes %j as %j', (value, cell) => {
    expect(csvCell(value)).toBe(cell);
  });

  it('starts with a byte order mark and terminates every line', () => {
    const columns = [
      { header: 'Name', value: ({ name }: { name: string }) => name },
      { header: 'Length', value: ({ name }: { name: string }) => name.length },
    ];
    expect(csvText(columns, [{ name: 'Zoë' }])).toBe('\uFEFFName,Length\r\nZoë,3\r\n');
  });
});
