import { Loader } from '@mantine/core';
import { CircleCheck, CircleX } from 'lucide-react';
import styles from './bench-page.module.css';
import type { Outcome } from './do-scan.ts';

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
