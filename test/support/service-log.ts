import { onTestFailed } from 'vitest';

const SHOWN = 15;
const LONGEST = 600;

/** Has the summary show the last log lines of a service if the running test fails. */
export const showLogOnFailure = (lines: () => readonly string[]): void =>
  onTestFailed(({ task }) => {
    const last = lines()
      .flatMap((line) => line.split('\n'))
      .filter(Boolean)
      .slice(-SHOWN)
      .map((line) => line.slice(0, LONGEST));
    task.meta.serviceLog = [...(task.meta.serviceLog ?? []), ...last];
  });
