const STEPS: [unit: string, ms: number][] = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
];

/** A length of time in whole units: "3 days". */
export const formatSpan = (ms: number): string => {
  const step = STEPS.find(([, size]) => ms >= size);
  if (!step) return 'less than a minute';
  const [unit, size] = step;
  const count = Math.floor(ms / size);
  return `${count} ${unit}${count === 1 ? '' : 's'}`;
};
