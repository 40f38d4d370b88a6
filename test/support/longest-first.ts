import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Seconds of the longest suites, roughly: on a new machine nothing tells how long they take, and one that begins last holds up the end. */
const SECONDS: Record<string, number> = {
  'browser/accessibility': 90,
  'browser/repairs': 85,
  'browser/settings': 80,
  'api/properties': 70,
  'faults/database-away': 53,
  'browser/external-api': 52,
  'cli/commands': 48,
  'browser/trade-returns': 41,
  'faults/stop': 38,
  'faults/network': 31,
  'browser/docs': 30,
  'browser/lost-answers': 28,
  'cli/beside-the-server': 27,
  'webhooks/hanging': 27,
  'admin/lock-out': 27,
  'browser/sorting': 27,
  'api/connections': 26,
  'faults/start': 24,
  'faults/locked-rows': 22,
  'api/dry-run': 22,
  'faults/logs': 22,
  'faults/two-processes': 21,
  'api/trade-returns': 20,
  'webhooks/bad-receivers': 20,
};

const secondsOf = ({ moduleId }: TestSpecification): number => {
  const name = /test\/(\w+\/[\w-]+)\.test\.ts$/.exec(moduleId.replaceAll('\\', '/'))?.[1];
  return (name && SECONDS[name]) || 0;
};

export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const usual = await super.sort(files);
    return usual.toSorted((one, other) => secondsOf(other) - secondsOf(one));
  }
}
