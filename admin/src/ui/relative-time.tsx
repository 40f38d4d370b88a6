import { useId, useRef, useState } from 'react';
import { dateFormat, relativeFormat } from '../format.ts';
import { texts } from '../texts.ts';
import { lazyOptional } from './lazy.tsx';
import { useNow } from './now.ts';
import { TwoLines } from './two-lines.tsx';

const words = texts.common;

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
export const DAY_MS = 24 * HOUR_MS;

const dayNumber = (ms: number): number => {
  const date = new Date(ms);
  return Math.round(Date.UTC(date.getFullYear(), date.getMonth(), date.getDate()) / DAY_MS);
};

/** How many midnights of the reader lie between two times; negative where the second is earlier. */
export const calendarDaysBetween = (fromMs: number, toMs: number): number =>
  dayNumber(toMs) - dayNumber(fromMs);

/** A length of time in whole units: "3 days", counted by the reader's calendar as in "3 days ago". */
export const formatSpan = (fromMs: number, toMs: number): string => {
  const ms = toMs - fromMs;
  if (ms >= DAY_MS) return words.days(calendarDaysBetween(fromMs, toMs));
  if (ms >= HOUR_MS) return words.hours(Math.floor(ms / HOUR_MS));
  return ms >= MINUTE_MS ? words.minutes(Math.floor(ms / MINUTE_MS)) : words.lessThanMinute;
};

const ExactTime = lazyOptional(async () => (await import('./exact-time.tsx')).ExactTime);

const exact = dateFormat({ dateStyle: 'medium', timeStyle: 'long' });

/** Up to here people think in hours, also over midnight. */
const HOURS = 6;

/** Minutes, hours, then the days of the reader's calendar: what was last night is "yesterday". */
export const formatRelative = (at: string, nowMs: number): string => {
  const ms = Date.parse(at) - nowMs;
  const [distance, days] = [Math.abs(ms), calendarDaysBetween(nowMs, nowMs + ms)];
  if (distance < MINUTE_MS) return words.justNow;
  if (distance < HOUR_MS) return relativeFormat.format(Math.round(ms / MINUTE_MS), 'minute');
  if (days === 0 || distance < HOURS * HOUR_MS)
    return relativeFormat.format(Math.trunc(ms / HOUR_MS), 'hour');
  return relativeFormat.format(days, 'day');
};

/** How long ago something was. Hover, touch or keyboard focus shows the exact time, in the reader's time zone. */
export const RelativeTime = ({ at }: { at: string }) => {
  const [open, setOpen] = useState(false);
  const now = useNow();
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
        {formatRelative(at, now)}
      </time>
      {open ? (
        <ExactTime id={id} target={time}>
          {exact.format(new Date(at))}
        </ExactTime>
      ) : null}
    </>
  );
};

const sameYear = dateFormat({
  day: 'numeric',
  month: 'short',
  hour: 'numeric',
  minute: '2-digit',
});
const otherYear = dateFormat({ dateStyle: 'medium' });
const formatDate = (at: string, nowMs: number): string => {
  const date = new Date(at);
  return (date.getFullYear() === new Date(nowMs).getFullYear() ? sameYear : otherYear).format(date);
};

/** For tables: shows the date below, and takes no keyboard focus, which would mean a tab stop in every row. */
export const RelativeTimeAndDate = ({ at }: { at: string }) => {
  const now = useNow();
  return (
    <time dateTime={at} title={exact.format(new Date(at))}>
      <TwoLines first={formatRelative(at, now)} second={formatDate(at, now)} />
    </time>
  );
};

const utcTime = dateFormat({
  dateStyle: 'medium',
  timeStyle: 'short',
  timeZone: 'UTC',
});
const utcDate = dateFormat({ dateStyle: 'medium', timeZone: 'UTC' });

/** A time at which something ends, in UTC: midnight is the end of the day before. */
export const formatEnd = (at: string): string => {
  const ms = Date.parse(at);
  return `${ms % DAY_MS === 0 ? words.endOf(utcDate.format(ms - 1)) : utcTime.format(ms)} (UTC)`;
};
