import { writeFileSync } from 'node:fs';
import { stripVTControlCharacters, styleText } from 'node:util';
import type { Reporter, SerializedError, TestCase, TestModule } from 'vitest/node';

// What a run prints after the usual: what was skipped and why, a line for each failed test, and a closing line. The last two also go to
// the file in TEST_REPORT.

type State = 'passed' | 'failed' | 'skipped';
const inState = (module: TestModule, state: State): TestCase[] => [...module.children.allTests(state)];

/** A reason of the test itself, or of the suite that it is in. */
const skipReasonOf = (test: TestCase): string => {
  for (let at: TestCase | TestCase['parent'] = test; at.type !== 'module'; at = at.parent) {
    const { skipReason } = at.meta();
    if (skipReason) return skipReason;
  }
  const result = test.result();
  return (result.state === 'skipped' && result.note) || 'no reason given';
};

const LINES = 3;
const LONGEST_LINE = 300;

/** A message without what follows its first empty line: the request and its error, or the seed and the counterexample of a property. */
const headOf = (message: string): string =>
  stripVTControlCharacters(message.split(/\n\s*\n/)[0] ?? '')
    .split('\n')
    .slice(0, LINES)
    .map((line) => line.slice(0, LONGEST_LINE))
    .join(' | ');

/** A line for each failed test, or for the file if it could not be loaded. */
const failuresOf = (module: TestModule): string[] => {
  const file = `FAILED ${module.project.name} ${module.relativeModuleId}`;
  const failed = inState(module, 'failed');
  if (failed.length === 0) return [`${file}: ${headOf(module.errors()[0]?.message ?? 'no message')}`];
  return failed.map((test) => {
    const [error] = test.result().errors ?? [];
    return `${file} > ${test.fullName}: ${headOf(error?.message ?? 'no message')}`;
  });
};

/** The end of the output has room for these; all are in the report. */
const SHOWN_FAILURES = 12;

export class ClosingReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], errors: readonly SerializedError[]): void {
    const skipped = Map.groupBy(
      modules.flatMap((module) => inState(module, 'skipped')),
      skipReasonOf,
    );
    const failed = modules.filter((module) => module.state() === 'failed').flatMap(failuresOf);
    failed.push(...errors.map(({ message }) => `FAILED outside of any test: ${headOf(message)}`));
    const passed = modules.flatMap((module) => inState(module, 'passed'));
    const counts = [passed.length, failed.length, [...skipped.values()].flat().length];
    const closing = `${counts[0]} passed, ${counts[1]} failed, ${counts[2]} skipped`;
    const print = (lines: string[]) => process.stdout.write(lines.map((line) => `${line}\n`).join(''));
    for (const [reason, tests] of skipped)
      print([
        reason.endsWith('not installed')
          ? styleText(['yellow', 'bold'], `NOT TESTED: ${tests.length} tests, ${reason}`)
          : `skipped ${tests.length}: ${reason}`,
      ]);
    print(failed.slice(0, SHOWN_FAILURES));
    if (failed.length > SHOWN_FAILURES) print([`and ${failed.length - SHOWN_FAILURES} more failures`]);
    print([closing]);
    const report = process.env['TEST_REPORT'];
    if (report) writeFileSync(report, [closing, ...failed, ''].join('\n'));
  }
}
