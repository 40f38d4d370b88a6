import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Seconds of the longest suites, roughly: on a new machine nothing tells how long they take, and one that begins last holds up the end. */
const SECONDS: Record<string, number> = {
  'browser/accessibility': 146,
  'cli/backup': 119,
  'browser/repairs': 102,
  'browser/access': 102,
  'browser/settings': 94,
  'faults/database-away': 93,
  'browser/workbench': 82,
  'browser/docs': 73,
  'cli/commands': 73,
  'browser/scanning': 64,
  'cli/doctor': 60,
  'browser/external-api': 51,
  'admin/lock-out': 51,
  'browser/trade-returns': 48,
  'browser/return-detail': 46,
  'browser/sorting': 42,
  'browser/lost-answers': 41,
  'faults/stop': 39,
  'cli/beside-the-server': 36,
  'browser/interruptions': 35,
  'faults/failover': 35,
  'faults/webhook-hanging': 34,
  'browser/plain-words': 34,
  'faults/locked-rows': 34,
  'faults/rows/03-database': 32,
  'faults/rows/09-random-bodies': 30,
  'faults/deploy-proxy': 29,
  'api/connections': 29,
  'faults/earlier-releases': 29,
  'browser/roles': 29,
  'webhooks/hanging': 28,
  'faults/rows/19-not-started': 27,
  'api/dry-run': 25,
  'cli/events': 23,
  'browser/upgrade': 22,
  'api/trade-moves': 22,
  'faults/start': 21,
  'browser/sign-in': 21,
  'api/rate-limits': 21,
  'store/months': 20,
  'faults/feed': 20,
  'unit/cli-usage': 19,
  'faults/logs': 19,
  'faults/poolers': 19,
  'faults/rows/01-kills': 19,
  'api/large-answers': 18,
  'cli/forward': 18,
  'faults/rows/07-hostile-receivers': 18,
  'webhooks/model': 17,
};

const secondsOf = ({ moduleId }: TestSpecification): number => {
  const name = /test\/((?:[\w-]+\/)+[\w-]+)\.test\.ts$/.exec(moduleId.replaceAll('\\', '/'))?.[1];
  return (name && SECONDS[name]) || 0;
};

export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const usual = await super.sort(files);
    return usual.toSorted((one, other) => secondsOf(other) - secondsOf(one));
  }
}
