import { mkdirSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { isMet, type Row, ratioOf } from '../measurement.ts';
import { arithmetic } from './arithmetic.ts';
import { growthPicture } from './growth-picture.ts';
import { notesOf } from './notes.ts';
import type { Results } from './results.ts';
import { cellsOf, HEAD, withUnit } from './table.ts';
import { throughputPicture } from './throughput-picture.ts';

const DOCS = fileURLToPath(new URL('../../docs/', import.meta.url));

export const writePage = (results: Results): void => {
  mkdirSync(`${DOCS}images`, { recursive: true });
  writeFileSync(`${DOCS}images/throughput.svg`, throughputPicture(results.rows));
  writeFileSync(`${DOCS}images/growth.svg`, growthPicture(results.extras.growth ?? []));
  writeFileSync(`${DOCS}performance.md`, pageOf(results));
};

const markdownTable = (head: string[], rows: string[][]): string =>
  [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');

const rowCells = (row: Row): string[] => {
  const cells = cellsOf(row);
  return isMet(row) ? cells : [...cells.slice(0, -1), '**no**'];
};

const BASELINES: [string, string][] = [
  ['L0', 'bare Fastify answering a POST that its own JSON schema validates, without a database'],
  [
    'L2',
    'L0 and pg: one prepared statement that writes counter, repair, timeline entry and event; 1,000 shops, a pool of 10',
  ],
  [
    'S2',
    'the same on better-sqlite3: one transaction of four prepared statements, `WAL`, `synchronous=FULL`',
  ],
  [
    'M2',
    'bare Fastify and pg: one prepared statement that updates repair, counter and totals and writes timeline entry, event and delivery; 20 shops',
  ],
  ['SM2', 'the same on better-sqlite3: one transaction of seven prepared statements'],
  ['L3, S3', 'one repair by its id, one prepared query'],
  ['L4n, S4n', 'the newest 20 of a shop’s 100,000 repairs, one prepared query, nothing counted'],
  [
    'U',
    'an undici loop that signs and posts the same bodies of 1 KB, 64 in flight, to the same 100 receivers',
  ],
];

const valuesOf = ({ rows, extras }: Results, names: string): string =>
  names
    .split(', ')
    .map((name) => {
      const known = rows.find(({ baseline, unit }) => baseline?.name === name && unit === '/s')?.baseline
        ?.value;
      return withUnit(known ?? extras.asides?.[name] ?? Number.NaN, '/s');
    })
    .join(', ');

const aside = ({ extras }: Results, name: string): string =>
  withUnit(extras.asides?.[name] ?? Number.NaN, 'ms');

/** What a reader wants to know first. */
const FIRST_FIGURES: [label: string, work: string][] = [
  ['repairs created a second', 'create, 1,000 shops'],
  ['repairs read a second, by id', 'get'],
  ['first pages of a list of 100,000 a second, with their total', 'list page 1 with total, of 100,000'],
  ['webhooks delivered a second', 'webhooks drained from a backlog of 20,000, 100 receivers'],
  ['time from the response to the webhook, 99th percentile', 'commit → receipt at 50/s on loopback: p99'],
];

const firstFigures = ({ rows }: Results): string => {
  const cellOf = (work: string, engine: Row['engine']): string => {
    const row = rows.find((each) => each.work === work && each.engine === engine);
    if (!row) return 'not measured';
    const ratio = ratioOf(row);
    const measured = withUnit(row.measured, row.unit);
    return ratio === null ? measured : `${measured} (${ratio.toFixed(2)} × ${row.baseline?.name})`;
  };
  return `## Five figures

${markdownTable(
  ['with one process', 'PostgreSQL', 'SQLite'],
  FIRST_FIGURES.map(([label, work]) => [label, cellOf(work, 'postgres'), cellOf(work, 'sqlite')]),
)}

L2, S2 and the others are bare programs that do the same work without the service's rules: [Baselines](#baselines) explains them. ${rows.filter(isMet).length} of ${rows.length} goals are met; [those that are not](#where-a-goal-is-not-met) say why, as far as it is known.

![Throughput as a multiple of the bare baselines](images/throughput.svg)`;
};

const baselines = (results: Results): string => `## Baselines

Each baseline is a process of its own, as fast as we could make it without cheating. It has the service's columns and indexes, row sizes and responses, but none of its checks and rules: no keys, limits, plans, allowances or safe retries. A name with an L or M uses PostgreSQL, one with an S uses SQLite.

${markdownTable(
  ['baseline', 'what it does', 'measured'],
  BASELINES.map(([name, words]) => [name, words, valuesOf(results, name)]),
)}`;

const method = (results: Results): string => `## How it is measured

- Service, baseline, database and load generator are separate processes on one machine. At any time either the service or the baseline has load. Both use the same PostgreSQL server, which waits for the disk at every commit (\`fsync\` and \`synchronous_commit\` on).
- There are 64 connections unless a row says otherwise. The status of every response is checked, and one refusal fails the run.
- All checks are on: rate limits, keys, plan, validation, allowance, timeline, outbox. Thousands of addresses in \`X-Forwarded-For\`, which the service believes (\`TRUST_PROXY=1\`), keep the load below the rate limits. The keys are those of 1,000 shops.
- While creations are measured, events are written and stay pending, so only the creation is measured: on PostgreSQL the process only serves requests (\`ROLE=api\`); on SQLite, where it also sends, receivers accept the connection and never respond.
- “One hot shop” is one of the 1,000, called from all connections.
- Growth is measured with one connection in shops of different sizes, each in a database of its own, taking turns. A shop has a tenth as many trade returns as repairs. The figure is the median.
- Drained webhooks are counted by the receivers, from the first arrival to the last.
- Receivers have a low priority, since they stand for other people's machines. The API beside a drain is measured for twice as long as the rest, so that the first requests, which come all at once, are less than one in a hundred.
- The moment of a commit cannot be seen from outside, so commit → receipt is counted from when the caller has the 201. Counted from the creation's own time, which includes waiting for the disk, PostgreSQL took ${aside(results, 'postgres p50 from the creation')} (p50) and ${aside(results, 'postgres p99 from the creation')} (p99), SQLite ${aside(results, 'sqlite p50 from the creation')} and ${aside(results, 'sqlite p99 from the creation')}.
- Memory is what the operating system counts as resident in a process that serves and sends, whose receivers never respond.

\`npm run bench -- --quick\` measures smaller shops, takes several minutes on two cores, and writes nothing. \`--only create,get\` and \`--engine sqlite\` choose what is measured. \`--page\` writes this page again from the last full run, for when \`bench/notes.md\` has changed.`;

const pageOf = (results: Results): string => {
  const { facts, rows } = results;
  return `# Performance

How fast the service is, and how much of that is the service's own doing. Figures on shared machines drift, so the ones to look at are ratios: each is measured against a bare baseline in the same run, taking turns with it, and is the median of ${facts.rounds} rounds. \`npm run bench\` writes this page.

Measured on ${facts.date} at commit ${facts.commit}, in ${facts.minutes.toFixed(1)} minutes, on ${facts.machine} (before the run ${facts.busyBefore.toFixed(1)} processes wanted a core). ${facts.software.join(', ')}. Load from ${facts.loadTool}.

${firstFigures(results)}

${baselines(results)}

## Every figure and its goal

${markdownTable(HEAD, rows.map(rowCells))}

![Time of a request against the number of RMAs in one shop](images/growth.svg)

## Where a goal is not met

${notesOf(rows)}

What each mechanism for speed gains is in [ADR 0026](adr/0026-speed-earns-its-place.md).

${method(results)}

## When one PostgreSQL is not enough

${arithmetic(results)}
`;
};
