import { Link } from '@tanstack/react-router';
import type { Overview } from '../../../contract/admin.ts';
import { dateFormat, formatNumber } from '../format.ts';
import type { ListSearch } from '../list-search.ts';
import { countOf, describeStatus, isEnded, KINDS, type Kind } from '../returns/kinds.ts';
import { texts } from '../texts.ts';
import { Section } from '../ui/page-frame.tsx';
import { PlainTable, TableFrame } from '../ui/plain-table.tsx';
import styles from './today.module.css';

interface Bar {
  label: string;
  count: number;
  colour: string;
  search: ListSearch;
}

type Step = Overview['offlineRepairs']['openByAge'][number];

const ageText = ({ upToDays }: Step, before: Step | undefined): string => {
  const from = before?.upToDays ?? 0;
  if (upToDays === null) return texts.today.moreThanDays(from);
  return before ? texts.today.daysFromTo(from, upToDays) : texts.today.lessThanADay;
};

/** A list begins where its search says; what is null has no end there. */
const spanOf = ({ createdFrom, createdTo }: Pick<Step, 'createdFrom' | 'createdTo'>): ListSearch => ({
  ...(createdFrom === null ? {} : { createdFrom }),
  ...(createdTo === null ? {} : { createdTo }),
});

export const KindBars = ({ kind, overview }: { kind: Kind; overview: Overview }) => {
  const { openByAge, byStatus } = overview[kind.overview];
  const ages = openByAge.map((step, i) => ({
    label: ageText(step, openByAge[i - 1]),
    count: step.count,
    // The two youngest look alike: nothing is late there.
    colour: `var(--age-${Math.max(0, Math.min(3, i - 1))})`,
    search: spanOf(step),
  }));
  const statuses = byStatus
    .filter(({ status }) => !isEnded(status))
    .map(({ status, count }) => ({
      label: describeStatus(status).label,
      count,
      colour: `var(--mantine-color-${describeStatus(status).color}-6)`,
      search: { status },
    }));
  return (
    <Section title={kind.title}>
      <p className={styles['subtitle']}>{texts.today.openFor}</p>
      <Bars kind={kind} bars={ages} />
      <p className={styles['subtitle']}>{texts.today.openByStatus}</p>
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
            style={{ width: `${(count / most) * 100}%`, background: colour }}
          />
        ) : null}
      </span>
      <span className={styles['count']}>{formatNumber(count)}</span>
    </Link>
  ));
};

const COLOURS = {
  offlineRepairs: 'var(--mantine-color-blue-6)',
  tradeReturns: 'var(--mantine-color-gray-5)',
};

type Day = Overview['createdPerDay'][number];

/** The days are the reader's own, so they are named without a time zone. */
const format = dateFormat({ day: 'numeric', month: 'short', timeZone: 'UTC' });
const dayName = ({ day }: Day): string => format.format(new Date(`${day}T00:00:00Z`));

const searchOf = (day: Day): ListSearch => ({ open: 'all', ...spanOf(day) });

/** A column for each day. A click opens what was created on it; the table below is for the keyboard. */
export const CreationsChart = ({ days }: { days: readonly Day[] }) => {
  const most = Math.max(1, ...days.map((day) => day.offlineRepairs + day.tradeReturns));
  return (
    <>
      <div className={styles['days']} aria-hidden>
        {days.map((day) => (
          <div key={day.day} className={styles['day']}>
            {KINDS.toReversed()
              .filter((kind) => day[kind.overview] > 0)
              .map((kind) => (
                <Link
                  key={kind.path}
                  to={kind.path}
                  search={searchOf(day)}
                  tabIndex={-1}
                  preload={false}
                  className={styles['segment'] ?? ''}
                  title={texts.today.onDay(dayName(day), countOf(day[kind.overview], kind))}
                  style={{
                    height: `${(day[kind.overview] / most) * 100}%`,
                    background: COLOURS[kind.overview],
                  }}
                />
              ))}
          </div>
        ))}
      </div>
      <div className={styles['axis']} aria-hidden>
        {[days[0], days[Math.floor(days.length / 2)], days.at(-1)].map((day) =>
          day ? <span key={day.day}>{dayName(day)}</span> : null,
        )}
      </div>
      <DaysTable days={days} />
    </>
  );
};

const DaysTable = ({ days }: { days: readonly Day[] }) => (
  <details className={styles['details']}>
    <summary>{texts.today.asTable}</summary>
    <TableFrame>
      <PlainTable
        rows={days.toReversed()}
        keyOf={({ day }) => day}
        columns={[
          { header: texts.today.day, isName: true, cell: dayName },
          ...KINDS.map((kind) => ({
            header: kind.title,
            cell: (day: Day) => (
              <Link to={kind.path} search={searchOf(day)} preload={false}>
                {formatNumber(day[kind.overview])}
              </Link>
            ),
          })),
        ]}
      />
    </TableFrame>
  </details>
);

export const ChartLegend = ({ days }: { days: readonly Day[] }) => (
  <div className={styles['legend']}>
    {KINDS.map((kind) => (
      <span key={kind.path} style={{ ['--swatch' as string]: COLOURS[kind.overview] }}>
        {countOf(
          days.reduce((sum, day) => sum + day[kind.overview], 0),
          kind,
        )}
      </span>
    ))}
  </div>
);
