import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { FULL } from './faults.ts';

/** The longest suites, longest first: on a new machine nothing tells how long they take, and one that begins last holds up the end. */
const LONGEST = [
  'browser/lists',
  'browser/accessibility',
  'browser/access',
  'browser/docs',
  'browser/return-detail',
  'browser/interruptions',
  'browser/journeys/settings',
  'faults/dry-run-bodies',
  'faults/stop',
  'faults/start',
  'faults/database-away',
  'faults/backup-under-load',
  'faults/rows/09-random-bodies',
  'faults/rows/03-database',
  'faults/locked-rows',
  'faults/failover',
  'faults/feed',
  'webhooks/retries',
  'webhooks/model',
  'browser/journeys/trade-returns',
  'browser/journeys/repairs',
  'api/rate-limits',
  'admin/lock-out',
  'cli/beside-the-server',
  'cli/restore',
  'api/connections',
];

/** The same of the rows of docs/reliability.md when they are done in full. */
const LONGEST_IN_FULL = [
  'faults/rows/18-soak',
  'faults/rows/01-kills',
  'faults/rows/20-schema-changes',
  'faults/rows/13-rate-limits',
  'faults/rows/07-hostile-receivers',
  'faults/rows/19-not-started',
  'faults/rows/02-kill-before-marking',
  'faults/rows/05-workers',
];

/** Those that are not in the list come last. */
const placeOf = ({ moduleId }: TestSpecification): number => {
  const list = FULL ? LONGEST_IN_FULL : LONGEST;
  const place = list.findIndex((name) => moduleId.replaceAll('\\', '/').endsWith(`test/${name}.test.ts`));
  return place < 0 ? list.length : place;
};

/** A worker goes on with files of its own project only; for one of another it is ended, and the next one loads everything again. */
const PROJECTS = ['browser', 'postgres', 'sqlite', 'unit'];
const projectOf = ({ project }: TestSpecification): number => PROJECTS.indexOf(project.name);

export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const usual = await super.sort(files);
    return usual.toSorted((one, other) => projectOf(one) - projectOf(other) || placeOf(one) - placeOf(other));
  }
}
