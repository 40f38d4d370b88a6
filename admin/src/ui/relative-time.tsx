import { Suspense, useId, useRef, useState } from 'react';
import { lazyOptional } from './lazy-optional.ts';
import { TwoLines } from './two-lines.tsx';

const ExactTime = lazyOptional(() => import('./exact-time.tsx').then((module) => module.ExactTime));

const STEPS: [Intl.RelativeTimeFormatUnit, number][] = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
];
const relative = new Intl.RelativeTimeFormat('en', { numeric: 'auto' });
const exact = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'long' });

export const formatRelative = (at: string, nowMs = Date.now()): string => {
  const ms = Date.parse(at) - nowMs;
  const [unit, size] = STEPS.find(([, step]) => Math.abs(ms) >= step) ?? ['minute', 60_000];
  return Math.abs(ms) < 60_000 ? 'just now' : relative.format(Math.round(ms / size), unit);
};

/** How long ago something was. Hover, touch or keyboard focus shows the exact time, in the reader's time zone. */
export const RelativeTime = ({ at }: { at: string }) => {
  const [open, setOpen] = useState(false);
  const time = useRef<HTMLTimeElement>(null);
  const id = useId();
  return (
    <>
      <time
        ref={time}
        dateTime={at}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard reaches the exact time in no other way
        tabIndex={0}
        aria-describedby={open ? id : undefined}
        onPointerEnter={() => setOpen(true)}
        onPointerLeave={() => setOpen(false)}
        onFocus={() => setOpen(true)}
        onBlur={() => setOpen(false)}
        onKeyDown={({ key }) => {
          if (key === 'Escape') setOpen(false);
        }}
      >
        {formatRelative(at)}
      </time>
      {open ? (
        <Suspense>
          <ExactTime id={id} target={time}>
            {exact.format(new Date(at))}
          </ExactTime>
        </Suspense>
      ) : null}
    </>
  );
};

const sameYear = new Intl.DateTimeFormat(undefined, {
  day: 'numeric',
  month: 'short',
  hour: 'numeric',
  minute: '2-digit',
});
const otherYear = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium' });
const formatDate = (at: string): string => {
  const date = new Date(at);
  return (date.getFullYear() === new Date().getFullYear() ? sameYear : otherYear).format(date);
};

/** For tables: shows the date below, and takes no keyboard focus, which would mean a tab stop in every row. */
export const RelativeTimeAndDate = ({ at }: { at: string }) => (
  <time dateTime={at} title={exact.format(new Date(at))}>
    <TwoLines first={formatRelative(at)} second={formatDate(at)} />
  </time>
);
