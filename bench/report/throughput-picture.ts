import { isMet, type Row, ratioOf } from '../measurement.ts';
import { bar, line, picture, text } from './svg.ts';
import { ENGINE_NAMES, withUnit } from './table.ts';

const WIDTH = 920;
const LEFT = 240;
const RIGHT = 190;
const TOP = 66;
const STEP = 34;
const BAR = 16;

/** How much gets through, as a multiple of the bare baseline; a mark stands where the goal is. */
export const throughputPicture = (all: Row[]): string => {
  const rows = all.filter(({ unit, baseline }) => unit === '/s' && baseline);
  const most = Math.max(2, ...rows.map((row) => Math.max(ratioOf(row) ?? 0, row.goal.value)));
  const x = (ratio: number): number => LEFT + (ratio / most) * (WIDTH - LEFT - RIGHT);
  const bottom = TOP + rows.length * STEP;
  const title = 'Throughput against bare baselines';
  const parts = [
    text(16, 28, title, { is: 'title' }),
    text(16, 48, 'baseline = 1; the upright mark is the goal; orange: not met', { is: 'quiet' }),
  ];
  for (let tick = 0; tick <= most; tick += 0.5)
    parts.push(
      line(x(tick), TOP - 8, x(tick), bottom, 'rule'),
      text(x(tick), bottom + 18, `${tick} ×`, { is: 'quiet', anchor: 'middle' }),
    );
  for (const [i, row] of rows.entries()) {
    const y = TOP + i * STEP;
    const ratio = ratioOf(row) ?? 0;
    parts.push(
      text(LEFT - 10, y + 13, `${row.short ?? row.work}, ${ENGINE_NAMES[row.engine]}`, {
        anchor: 'end',
      }),
      bar(LEFT, y, x(ratio) - LEFT, BAR, isMet(row) ? 'met' : 'unmet'),
      line(x(row.goal.value), y - 4, x(row.goal.value), y + BAR + 4, 'mark'),
      text(
        WIDTH - RIGHT + 14,
        y + 13,
        `${withUnit(row.measured, row.unit)} (${row.baseline?.name} ${withUnit(row.baseline?.value ?? 0, row.unit)})`,
        { is: 'quiet' },
      ),
    );
  }
  return picture(WIDTH, bottom + 32, title, parts);
};
