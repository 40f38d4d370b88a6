import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** What takes longest, longest first: on a new machine no durations are known, and a long suite that begins last holds up the end. */
const LONGEST = [
  ...['18-soak', '01-kills', '20-schema-changes', '13-rate-limits'].map((row) => `faults/rows/${row}`),
  ...['browser/', 'faults/', 'webhooks/', 'api/rate-limits', 'admin/lock-out', 'cli/', 'api/connections'],
];

const placeOf = ({ moduleId }: TestSpecification): number => {
  const place = LONGEST.findIndex((name) => moduleId.replaceAll('\\', '/').includes(`/test/${name}`));
  return place < 0 ? LONGEST.length : place;
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
