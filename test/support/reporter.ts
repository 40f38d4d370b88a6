import { writeFileSync } from 'node:fs';
import { styleText } from 'node:util';
import { DefaultReporter, type TestCase, type TestModule } from 'vitest/node';

// What a run prints: a line for each file when it ends; then each failure with what was expected, what was seen and the last log lines of
// the service; then the slowest files, what was skipped and why, and a closing line, which also goes to the file in TEST_REPORT.

const SLOWEST = 10;

declare module 'vitest' {
  interface TaskMeta {
    /** The last log lines of the services that a test used; only of one that failed. */
    serviceLog?: string[];
  }
}

const seconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`;
const nameOf = (module: TestModule): string => `${module.project.name.padEnd(9)} ${module.relativeModuleId}`;
const durationOf = (module: TestModule): number => {
  const { duration, collectDuration, setupDuration } = module.diagnostic();
  return duration + collectDuration + setupDuration;
};
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

export class HandbackReporter extends DefaultReporter {
  constructor() {
    super({ summary: false });
  }

  protected override printTestModule(module: TestModule): void {
    const state = module.state();
    if (state === 'queued' || state === 'pending') return;
    const tests = testsOf(module);
    const counts = [
      `${having(tests, 'passed').length} passed`,
      ...(['failed', 'skipped'] as const).flatMap((each) => {
        const { length } = having(tests, each);
        return length > 0 ? [`${length} ${each}`] : [];
      }),
    ];
    const [colour, mark] = state === 'failed' ? (['red', '✗'] as const) : (['green', '✓'] as const);
    this.log(
      `${styleText(colour, mark)} ${nameOf(module)}  ${counts.join(', ')}  ${seconds(durationOf(module))}`,
    );
    for (const test of having(tests, 'failed')) this.log(styleText('red', `    ✗ ${test.fullName}`));
  }

  override reportSummary(...[files, errors]: Parameters<DefaultReporter['reportSummary']>): void {
    super.reportSummary(files, errors);
    const modules = this.ctx.state.getTestModules();
    const tests = modules.flatMap(testsOf);
    this.printServiceLogs(having(tests, 'failed'));
    this.printSlowest(modules);
    this.printSkipped(having(tests, 'skipped'));
    // A file that cannot be loaded, or an error outside of any test, is a failure too.
    const failedAlone =
      modules.filter(
        (module) => module.state() === 'failed' && having(testsOf(module), 'failed').length === 0,
      ).length + errors.length;
    const closing = `${having(tests, 'passed').length} passed, ${having(tests, 'failed').length + failedAlone} failed, ${having(tests, 'skipped').length} skipped`;
    this.log(closing);
    const report = process.env['TEST_REPORT'];
    if (report) writeFileSync(report, `${closing}\n`);
  }

  private printServiceLogs(failed: TestCase[]): void {
    for (const test of failed) {
      const { serviceLog = [] } = test.meta();
      if (serviceLog.length === 0) continue;
      this.error(styleText('red', `The service's last log lines in "${test.fullName}":`));
      for (const line of serviceLog) this.error(`    ${line}`);
    }
  }

  private printSlowest(modules: TestModule[]): void {
    const slowest = modules.toSorted((one, other) => durationOf(other) - durationOf(one)).slice(0, SLOWEST);
    if (modules.length < 2) return;
    this.log('The slowest files:');
    for (const module of slowest) this.log(`${seconds(durationOf(module)).padStart(10)}  ${nameOf(module)}`);
    this.log();
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
