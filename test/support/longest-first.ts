import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { FULL } from './faults.ts';

/** Seconds of the longest suites, roughly: on a new machine nothing tells how long they take, and one that begins last holds up the end. */
const SECONDS: Record<string, number> = {
  'cli/backup-under-load': 60,
  'browser/accessibility': 60,
  'faults/database-away': 60,
  'browser/docs': 60,
  'browser/repairs': 58,
  'browser/settings': 48,
  'browser/access': 44,
  'faults/stop': 39,
  'cli/doctor': 36,
  'cli/beside-the-server': 36,
  'faults/failover': 35,
  'faults/webhook-hanging': 34,
  'faults/locked-rows': 34,
  'cli/restore': 33,
  'faults/rows/03-database': 32,
  'browser/scanning': 31,
  'browser/workbench': 30,
  'faults/rows/09-random-bodies': 30,
  'browser/external-api': 29,
  'faults/deploy-proxy': 29,
  'api/connections': 29,
  'faults/earlier-releases': 29,
  'cli/commands': 28,
  'browser/lost-answers': 28,
  'webhooks/hanging': 28,
  'faults/rows/19-not-started': 27,
  'browser/trade-returns': 26,
  'api/dry-run': 25,
  'admin/lock-out': 24,
  'browser/interruptions': 24,
  'browser/return-detail': 23,
  'cli/events': 23,
  'browser/plain-words': 22,
  'api/trade-moves': 22,
  'faults/start': 21,
  'api/rate-limits': 21,
  'store/months': 20,
  'faults/feed': 20,
  'faults/logs': 19,
  'faults/poolers': 19,
  'faults/rows/01-kills': 19,
  'browser/untidy-data': 19,
  'api/large-answers': 18,
  'cli/forward': 18,
  'faults/rows/07-hostile-receivers': 18,
  'browser/sorting': 17,
  'browser/roles': 17,
  'webhooks/model': 17,
};

/** The same of the rows of docs/reliability.md when they are done in full. */
const SECONDS_IN_FULL: Record<string, number> = {
  'faults/rows/18-soak': 640,
  'faults/rows/01-kills': 400,
  'faults/rows/20-upgrade': 160,
  'faults/rows/13-rate-limits': 160,
  'faults/rows/07-hostile-receivers': 100,
  'faults/rows/19-not-started': 77,
  'faults/rows/02-kill-before-marking': 66,
  'faults/rows/05-workers': 51,
};

const secondsOf = ({ moduleId }: TestSpecification): number => {
  const name = /test\/((?:[\w-]+\/)+[\w-]+)\.test\.ts$/.exec(moduleId.replaceAll('\\', '/'))?.[1];
  const seconds = FULL ? SECONDS_IN_FULL : SECONDS;
  return (name && seconds[name]) || 0;
};

export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const usual = await super.sort(files);
    return usual.toSorted((one, other) => secondsOf(other) - secondsOf(one));
  }
}
