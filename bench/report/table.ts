import type { Engine } from '../engines.ts';
import { isMet, type Row, ratioOf } from '../measurement.ts';

// The rows as text: the same cells for the terminal and for the page.

export const ENGINE_NAMES: Record<Engine, string> = { postgres: 'PostgreSQL', sqlite: 'SQLite' };

const number = (value: number): string =>
  value >= 100 ? Math.round(value).toLocaleString('en') : value.toFixed(value < 10 ? 2 : 1);

export const withUnit = (value: number, unit: Row['unit']): string =>
  unit === '/s' ? `${number(value)}/s` : `${number(value)} ${unit}`;

const goalText = ({ goal, baseline, unit }: Row): string =>
  `${goal.bound === 'least' ? '≥' : '≤'} ${baseline ? `${goal.value} × ${baseline.name}` : `${goal.value} ${unit}`}`;

export const HEAD = ['work', 'engine', 'measured', 'baseline', 'ratio', 'goal', 'met'];

export const cellsOf = (row: Row): string[] => [
  row.work,
  ENGINE_NAMES[row.engine],
  withUnit(row.measured, row.unit),
  row.baseline ? `${row.baseline.name} ${withUnit(row.baseline.value, row.unit)}` : '',
  ratioOf(row)?.toFixed(2) ?? '',
  goalText(row),
  isMet(row) ? 'yes' : 'no',
];

export const textTable = (rows: Row[]): string => {
  const all = [HEAD, ...rows.map(cellsOf)];
  const widths = HEAD.map((_, i) => Math.max(...all.map((cells) => (cells[i] ?? '').length)));
  return all
    .map((cells) =>
      cells
        .map((cell, i) => cell.padEnd(widths[i] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
};
