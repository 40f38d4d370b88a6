import { readFileSync } from 'node:fs';
import { isMet, type Row } from '../measurement.ts';
import { ENGINE_NAMES } from './table.ts';

const FILE = new URL('../notes.md', import.meta.url);

/** `## heading` → the text under it. */
const sections = (): Map<string, string> =>
  new Map(
    readFileSync(FILE, 'utf8')
      .split(/^## /m)
      .slice(1)
      .map((section) => {
        const end = section.indexOf('\n');
        return [section.slice(0, end).trim(), section.slice(end).trim()];
      }),
  );

/** What is known of each row that misses its goal. */
export const notesOf = (rows: Row[]): string => {
  const known = sections();
  const missed = rows.filter((row) => !isMet(row)).map((row) => `${row.work}, ${ENGINE_NAMES[row.engine]}`);
  if (missed.length === 0) return 'Every goal is met.';
  const told = missed.flatMap((heading) => {
    const note = known.get(heading);
    return note ? [`**${heading}.** ${note}`] : [];
  });
  const untold = missed.filter((heading) => !known.has(heading));
  return [...told, ...(untold.length > 0 ? [`Not investigated yet: ${untold.join('; ')}.`] : [])].join(
    '\n\n',
  );
};
