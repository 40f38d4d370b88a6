import { Link } from '@tanstack/react-router';
import type { Overview } from '../../../contract/admin.ts';
import type { ListSearch } from '../list-search.ts';
import type { Kind } from '../returns/kinds.ts';
import { describeStatus } from '../returns/labels.ts';
import styles from './overview.module.css';
import { Section } from './section.tsx';

interface Bar {
  label: string;
  count: number;
  colour: string;
  search: ListSearch;
}

type Step = Overview['offlineRepairs']['openByAge'][number];

/** "3 to 7 days" */
const ageText = ({ upToDays }: Step, before: Step | undefined): string => {
  if (upToDays === null) return `More than ${before?.upToDays} days`;
  return before ? `${before.upToDays} to ${upToDays} days` : 'Less than a day';
};

/** The longer it has been there, the warmer. */
const AGE_COLOURS = ['teal.6', 'blue.6', 'yellow.6', 'orange.6', 'red.7'];

/** A bar in the light grey of closed returns would be hard to see. */
const barColour = (status: string): string => {
  const { color } = describeStatus(status);
  return `${color}.6`;
};

const asVariable = (colour: string): string => `var(--mantine-color-${colour.replace('.', '-')})`;

/** A list begins where its search says; what is null has no end there. */
const spanOf = ({ createdFrom, createdTo }: Step): ListSearch => ({
  ...(createdFrom === null ? {} : { createdFrom }),
  ...(createdTo === null ? {} : { createdTo }),
});

/** How long what is open has been there, and how many there are in each status. */
export const KindBars = ({ kind, overview }: { kind: Kind; overview: Overview }) => {
  const { openByAge, byStatus } = overview[kind.overview];
  const ages = openByAge.map((step, i) => ({
    label: ageText(step, openByAge[i - 1]),
    count: step.count,
    colour: AGE_COLOURS[i] ?? 'gray.6',
    search: spanOf(step),
  }));
  const statuses = byStatus.map(({ status, count }) => ({
    label: describeStatus(status).label,
    count,
    colour: barColour(status),
    search: { status },
  }));
  return (
    <Section title={kind.title}>
      <p className={styles['subtitle']}>Open for</p>
      <Bars kind={kind} bars={ages} />
      <p className={styles['subtitle']}>By status</p>
      <Bars kind={kind} bars={statuses} />
    </Section>
  );
};

const Bars = ({ kind, bars }: { kind: Kind; bars: readonly Bar[] }) => {
  const most = Math.max(1, ...bars.map(({ count }) => count));
  return bars.map(({ label, count, colour, search }) => (
    <Link key={label} to={kind.path} search={search} className={styles['bar'] ?? ''} preload={false}>
      <span>{label}</span>
      <span className={styles['track']} aria-hidden>
        {count > 0 ? (
          <span
            className={styles['fill']}
            style={{ width: `${(count / most) * 100}%`, background: asVariable(colour) }}
          />
        ) : null}
      </span>
      <span className={styles['count']}>{count.toLocaleString()}</span>
    </Link>
  ));
};
