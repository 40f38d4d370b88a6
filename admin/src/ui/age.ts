const STEPS: [unit: string, ms: number][] = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
];

/** How long it is between two times, in whole units: "3 days". */
export const formatSpan = (ms: number): string => {
  const [unit, size] = STEPS.find(([, step]) => Math.abs(ms) >= step) ?? ['minute', 60_000];
  const count = Math.max(1, Math.floor(Math.abs(ms) / size));
  return `${count} ${unit}${count === 1 ? '' : 's'}`;
};
