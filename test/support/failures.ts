import { onTestFailed } from 'vitest';

// What a failed test prints beside its error.

const SHOWN_LINES = 10;
const LONGEST_LINE = 1_000;
const WARNING = 40;

/** Warnings, errors and refused requests; and what is no line of the log. */
const isTelling = (line: string): boolean => {
  if (!line.startsWith('{')) return line !== '';
  try {
    const { level, status } = JSON.parse(line);
    return level >= WARNING || status >= 400;
  } catch {
    return true;
  }
};

/** If the running test fails, its error shows these lines, above the difference between what was expected and what was received. */
export const showOnFailure = (lines: () => readonly string[]): void =>
  onTestFailed(({ task }) => {
    const [error] = task.result?.errors ?? [];
    const shown = lines();
    if (error && shown.length > 0) error.message += `\n\n${shown.join('\n')}\n`;
  });

/** The same with the last lines that tell what went wrong in the log of a service or in the output of a program. */
export const showLogOnFailure = (program: string, log: () => readonly string[]): void =>
  showOnFailure(() => {
    const telling = log()
      .flatMap((text) => text.split('\n'))
      .filter(isTelling);
    const shown = telling.slice(-SHOWN_LINES).map((line) => line.slice(0, LONGEST_LINE));
    return shown.length > 0 ? [`log of ${program}:`, ...shown] : [];
  });
