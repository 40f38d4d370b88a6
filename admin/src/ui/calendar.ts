const DAY_MS = 86_400_000;

/** A day's number in the reader's calendar. */
const dayOf = (ms: number): number => {
  const date = new Date(ms);
  return Math.round(Date.UTC(date.getFullYear(), date.getMonth(), date.getDate()) / DAY_MS);
};

/** How many midnights of the reader lie between two times; negative where the second is earlier. */
export const calendarDaysBetween = (fromMs: number, toMs: number): number => dayOf(toMs) - dayOf(fromMs);
