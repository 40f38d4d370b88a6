// The days of a time zone, as times.

const DAY_MS = 86_400_000;

/** By how much a zone's clocks are ahead at a time. */
const offsetAt = (zone: Intl.DateTimeFormat, ms: number): number => {
  const part = Object.fromEntries(zone.formatToParts(ms).map(({ type, value }) => [type, Number(value)]));
  const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = part;
  return Date.UTC(year, month - 1, day, hour, minute, second) - Math.floor(ms / 1000) * 1000;
};

interface Day {
  day: string;
  from: number;
  to: number;
}

/** The last so many days there, the present one included, each from its midnight to the next. */
export const lastDays = (count: number, timeZone: string, nowMs: number): Day[] => {
  const zone = new Intl.DateTimeFormat('en', {
    timeZone,
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  });
  const today = Math.floor((nowMs + offsetAt(zone, nowMs)) / DAY_MS);
  // The offset may change between the guess and the midnight itself.
  const midnight = (day: number): number => {
    const guess = day * DAY_MS - offsetAt(zone, day * DAY_MS);
    return day * DAY_MS - offsetAt(zone, guess);
  };
  return Array.from({ length: count }, (_, i) => {
    const day = today - count + 1 + i;
    return {
      day: new Date(day * DAY_MS).toISOString().slice(0, 10),
      from: midnight(day),
      to: midnight(day + 1),
    };
  });
};
