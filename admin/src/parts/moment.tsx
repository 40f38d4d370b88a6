import { Tooltip } from '@mantine/core';

const STEPS: [Intl.RelativeTimeFormatUnit, number][] = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
];
const relative = new Intl.RelativeTimeFormat('en', { numeric: 'auto' });
const exact = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'long' });

const agoOf = (at: string, nowMs = Date.now()): string => {
  const ms = Date.parse(at) - nowMs;
  const [unit, size] = STEPS.find(([, step]) => Math.abs(ms) >= step) ?? ['minute', 60_000];
  return Math.abs(ms) < 60_000 ? 'just now' : relative.format(Math.round(ms / size), unit);
};

/** A time as people say it, in the reader's zone; exactly on hover. */
export const Moment = ({ at }: { at: string }) => (
  <Tooltip label={exact.format(new Date(at))} events={{ hover: true, focus: true, touch: true }}>
    <time dateTime={at}>{agoOf(at)}</time>
  </Tooltip>
);
