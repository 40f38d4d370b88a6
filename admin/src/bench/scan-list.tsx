import { Button, Loader } from '@mantine/core';
import { CircleCheck, CircleX } from 'lucide-react';
import { TextLink } from '../ui/links.tsx';
import styles from './bench-page.module.css';
import type { Outcome, Scan } from './scans.ts';

/** What became of the last scan, large enough to be read from the other side of a bench, and read aloud. */
export const LastScan = ({ last, waiting }: { last: Outcome | null; waiting: number }) => (
  <div className={styles['last']} data-state={last === null ? 'none' : last.isDone ? 'done' : 'failed'}>
    {last ? last.isDone ? <CircleCheck size={40} aria-hidden /> : <CircleX size={40} aria-hidden /> : null}
    <div className={styles['words']} role="status" aria-live="assertive" aria-atomic>
      {last === null ? (
        'Ready'
      ) : (
        <>
          <strong>
            <bdi>{last.found?.rmaNumber ?? last.text}</bdi>
          </strong>{' '}
          <span>{last.message}</span>
        </>
      )}
    </div>
    {waiting > 0 ? (
      <span className={styles['waiting']}>
        <Loader size="sm" aria-hidden /> {waiting} in progress
      </span>
    ) : null}
  </div>
);

export const ScanList = ({ scans, onRetry }: { scans: readonly Scan[]; onRetry(text: string): void }) => (
  <ol className={styles['scans']} aria-label="What was scanned, newest first">
    {scans.map(({ id, text, outcome }) => (
      <li key={id} data-state={outcome === null ? 'waiting' : outcome.isDone ? 'done' : 'failed'}>
        <Sign outcome={outcome} />
        <span className={styles['number']}>
          {outcome?.found && outcome.kind ? (
            <TextLink
              to={outcome.kind.detail}
              params={{ id: outcome.found.id }}
              target="_blank"
              title="Opens in a new tab"
              fw={600}
            >
              {outcome.found.rmaNumber}
            </TextLink>
          ) : (
            <bdi>{text}</bdi>
          )}
        </span>
        <span className={styles['message']}>
          {outcome?.message ?? 'In progress'}
          {outcome?.found ? (
            <small>
              <bdi>{outcome.found.customerName}</bdi>
            </small>
          ) : null}
        </span>
        {outcome && !outcome.isDone ? (
          <Button
            size="compact-sm"
            variant="default"
            onClick={() => onRetry(text)}
            aria-label={`Try again: ${text}`}
          >
            Try again
          </Button>
        ) : null}
      </li>
    ))}
  </ol>
);

const Sign = ({ outcome }: { outcome: Outcome | null }) => {
  if (outcome === null) return <Loader size={16} aria-label="In progress" role="img" />;
  return outcome.isDone ? (
    <CircleCheck size={18} aria-label="Done" role="img" />
  ) : (
    <CircleX size={18} aria-label="Not done" role="img" />
  );
};
