import type { Engine } from '../engines.ts';
import type { Extras } from '../measurement.ts';
import { dot, line, path, picture, text } from './svg.ts';
import { ENGINE_NAMES } from './table.ts';

const WIDTH = 920;
const HEIGHT = 400;
const TOP = 100;
const BOTTOM = HEIGHT - 44;
const PANEL = 300;
const LEFTS = [56, 516];
const LABEL_STEP = 16;

type Growth = NonNullable<Extras['growth']>;

/** Milliseconds against the number of RMAs in the shop, both in steps of ten: what does not grow lies flat. */
export const growthPicture = (growth: Growth): string => {
  const title = 'Time against number of RMAs in one shop';
  const times = growth.flatMap((each) => each.times);
  const [lowest, highest] = [Math.min(...times.map(({ ms }) => ms)), Math.max(...times.map(({ ms }) => ms))];
  const [low, high] = [Math.floor(Math.log10(lowest)), Math.max(1, Math.ceil(Math.log10(highest)))];
  const sizes = [...new Set(times.map(({ rmas }) => rmas))].sort((one, other) => one - other);
  const [least, most] = [Math.log10(sizes[0] ?? 1), Math.log10(sizes.at(-1) ?? 10)];
  const y = (ms: number): number => BOTTOM - ((Math.log10(ms) - low) / (high - low)) * (BOTTOM - TOP);
  const across = (rmas: number): number => ((Math.log10(rmas) - least) / (most - least || 1)) * PANEL;

  const panel = (engine: Engine, left: number): string[] => {
    const parts = [text(left, TOP - 16, ENGINE_NAMES[engine])];
    for (let power = low; power <= high; power++)
      parts.push(
        line(left, y(10 ** power), left + PANEL, y(10 ** power), 'rule'),
        text(left - 8, y(10 ** power) + 4, `${10 ** power}`, { is: 'quiet', anchor: 'end' }),
      );
    for (const size of sizes)
      parts.push(
        text(left + across(size), BOTTOM + 22, size.toLocaleString('en'), { is: 'quiet', anchor: 'middle' }),
      );
    const own = growth.filter((each) => each.engine === engine);
    const labels = own.map((each, i) => ({ ...each, i, y: y(each.times.at(-1)?.ms ?? 1) }));
    for (const [i, { times: points }] of own.entries()) {
      const at = points.map(({ rmas, ms }): [number, number] => [left + across(rmas), y(ms)]);
      parts.push(path(at, `line c${i}`), ...at.map(([px, py]) => dot(px, py, `d${i}`)));
    }
    // Labels stand at the lines' ends, pushed apart where lines meet.
    let lastY = TOP - LABEL_STEP;
    for (const label of labels.sort((one, other) => one.y - other.y)) {
      lastY = Math.max(label.y, lastY + LABEL_STEP);
      parts.push(text(left + PANEL + 12, lastY + 4, label.work, { is: `d${label.i}` }));
    }
    return parts;
  };
  const engines = [...new Set(growth.map(({ engine }) => engine))];
  return picture(WIDTH, HEIGHT, title, [
    text(16, 28, title, { is: 'title' }),
    text(16, 48, 'milliseconds, one request at a time, median', { is: 'quiet' }),
    ...engines.flatMap((engine, i) => panel(engine, LEFTS[i] ?? 0)),
  ]);
};
