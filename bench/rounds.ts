import type { Effort } from './effort.ts';
import { median } from './figures.ts';

/** Measures once, for so many seconds, and gives back figures by name. */
export type Contestant<Figure extends string> = (seconds: number) => Promise<Record<Figure, number>>;

/**
 * Lets contestants take turns, so that whatever the machine does meanwhile falls on all of them alike; every other round
 * goes backwards, so that none always comes first. Gives back the median of each figure.
 */
export const takeTurns = async <Name extends string, Figure extends string>(
  { rounds, warmUpSeconds, roundSeconds }: Pick<Effort, 'rounds' | 'warmUpSeconds' | 'roundSeconds'>,
  contestants: Record<Name, Contestant<Figure>>,
): Promise<Record<Name, Record<Figure, number>>> => {
  const names = Object.keys(contestants) as Name[];
  const seen = new Map<Name, Record<Figure, number>[]>(names.map((name) => [name, []]));
  if (warmUpSeconds > 0) for (const name of names) await contestants[name](warmUpSeconds);
  for (let round = 0; round < rounds; round++)
    for (const name of round % 2 === 0 ? names : names.toReversed())
      seen.get(name)?.push(await contestants[name](roundSeconds));
  return Object.fromEntries([...seen].map(([name, figures]) => [name, mediansOf(figures)])) as Record<
    Name,
    Record<Figure, number>
  >;
};

const mediansOf = <Figure extends string>(figures: Record<Figure, number>[]): Record<Figure, number> =>
  Object.fromEntries(
    Object.keys(figures[0] ?? {}).map((name) => [name, median(figures.map((each) => each[name as Figure]))]),
  ) as Record<Figure, number>;
