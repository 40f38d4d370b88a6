// Whether a figure that was read again and again stays where it is.

export interface Sample {
  atMs: number;
  value: number;
}

const median = (values: number[]): number =>
  values.toSorted((one, other) => one - other)[values.length >> 1] ?? 0;

/** By least squares, how much it grows in an hour. */
export const growthPerHour = (samples: readonly Sample[]): number => {
  const mean = (of: (sample: Sample) => number) =>
    samples.reduce((sum, sample) => sum + of(sample), 0) / samples.length;
  const [at, value] = [mean(({ atMs }) => atMs), mean((sample) => sample.value)];
  const shared = mean((sample) => (sample.atMs - at) * (sample.value - value));
  const spread = mean(({ atMs }) => (atMs - at) ** 2);
  return spread === 0 ? 0 : (shared / spread) * 3_600_000;
};

/** The medians of its second and its last fifth. */
export const secondAndLastFifth = (samples: readonly Sample[]): [second: number, last: number] => {
  const fifth = Math.floor(samples.length / 5);
  const values = samples.map(({ value }) => value);
  return [median(values.slice(fifth, 2 * fifth)), median(values.slice(-fifth))];
};
