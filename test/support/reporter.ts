import { writeFileSync } from 'node:fs';
import { styleText } from 'node:util';
import { DefaultReporter, type TestCase, type TestModule } from 'vitest/node';

// What a run prints beside the usual: the last log lines of the service for each failure, what was skipped and why, and a closing line,
// which also goes to the file in TEST_REPORT, with the names of what failed.

declare module 'vitest' {
  interface TaskMeta {
    /** The last log lines of the services that a test used; only of one that failed. */
    serviceLog?: string[];
  }
}

const testsOf = (module: TestModule): TestCase[] => [...module.children.allTests()];
const having = (tests: TestCase[], state: 'passed' | 'failed' | 'skipped'): TestCase[] =>
  tests.filter((test) => test.result().state === state);

/** Of the test itself, or of the suite that it is in. */
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

/** The first lines of a message: of a property that failed these are the seed and the counterexample. */
const headOf = (message: string): string =>
  message
    .split('\n')
    .filter((line) => line.trim() !== '')
    .slice(0, LINES)
    .map((line) => line.slice(0, LONGEST_LINE))
    .join(' | ');

/** A line for each failed test, or for the file if it could not be loaded. */
const failuresOf = (module: TestModule): string[] => {
  const file = `FAILED ${module.project.name} ${module.relativeModuleId}`;
  const failed = having(testsOf(module), 'failed');
  if (failed.length === 0) return [file];
  return failed.map((test) => {
    const [error] = test.result().errors ?? [];
    return `${file} > ${test.fullName}: ${headOf(error?.message ?? '') || 'no message'}`;
  });
};

export class HandbackReporter extends DefaultReporter {
  constructor() {
    super({ summary: false });
  }

  override reportSummary(...[files, errors]: Parameters<DefaultReporter['reportSummary']>): void {
    super.reportSummary(files, errors);
    const modules = this.ctx.state.getTestModules();
    const tests = modules.flatMap(testsOf);
    this.printServiceLogs(having(tests, 'failed'));
    this.printSkipped(having(tests, 'skipped'));
    // A file that cannot be loaded, or an error outside of any test, is a failure too.
    const failedAlone =
      modules.filter(
        (module) => module.state() === 'failed' && having(testsOf(module), 'failed').length === 0,
      ).length + errors.length;
    const closing = `${having(tests, 'passed').length} passed, ${having(tests, 'failed').length + failedAlone} failed, ${having(tests, 'skipped').length} skipped`;
    this.log(closing);
    const report = process.env['TEST_REPORT'];
    const failed = modules.filter((module) => module.state() === 'failed').flatMap(failuresOf);
    if (report) writeFileSync(report, [closing, ...failed, ''].join('\n'));
  }

  private printServiceLogs(failed: TestCase[]): void {
    for (const test of failed) {
      const { serviceLog = [] } = test.meta();
      if (serviceLog.length === 0) continue;
      this.error(styleText('red', `The service's last log lines in "${test.fullName}":`));
      for (const line of serviceLog) this.error(`    ${line}`);
    }
  }

  private printSkipped(skipped: TestCase[]): void {
    const counts = new Map<string, number>();
    for (const test of skipped) {
      const reason = skipReasonOf(test);
      counts.set(reason, (counts.get(reason) ?? 0) + 1);
    }
    for (const [reason, count] of counts) this.log(`skipped ${count}: ${reason}`);
  }
}
