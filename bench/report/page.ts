import { mkdirSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { isMet, type Row } from '../measurement.ts';
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

const baselines = (results: Results): string => `## Baselines

Each is a process of its own, as fast as it could honestly be made, and has the service's columns and indexes, row sizes and answers, but none
of its gates and rules: no keys, limits, plans, allowances, safe retries.

${markdownTable(
  ['', 'what it does', 'measured'],
  BASELINES.map(([name, words]) => [name, words, valuesOf(results, name)]),
)}`;

const method = (results: Results): string => `## How it is measured

- Service, baseline, database and load are processes of their own on one machine; at any time one of service and baseline has load. Both
  use the same PostgreSQL server, which waits for the disk at every commit (\`fsync\` and \`synchronous_commit\` on).
- 64 connections where nothing else is said. Every answer's status is checked, and one refusal fails the run.
- All gates are on: rate limits, keys, plan, validation, allowance, timeline, outbox. Limits are kept out of the way by thousands of
  addresses in \`X-Forwarded-For\`, which the service believes (\`TRUST_PROXY=1\`); keys are those of 1,000 shops.
- While creations are measured, events are written and stay, so nothing but the creation is measured: on PostgreSQL the process is
  one that only answers requests (\`ROLE=api\`); on SQLite, where it sends as well, receivers take the connection and never answer.
- “One hot shop” is one of the 1,000, called from all connections.
- Growth is measured with one connection in shops of different sizes, each in a database of its own, taking turns. A tenth as many trade
  returns come on top of the repairs. The median is given.
- Drained webhooks are counted by the receivers, from the first arrival to the last.
- Receivers have a low priority: they stand for other people's machines. The API beside a drain is measured for twice as long as the rest,
  so that the first requests, which come all at once, are less than one of a hundred.
- The moment of a commit cannot be seen from outside. Commit → receipt is counted from when the caller has the 201. Counted from the
  creation's own time, with waiting for the disk in it, PostgreSQL took ${aside(results, 'postgres p50 from the creation')} (p50) and
  ${aside(results, 'postgres p99 from the creation')} (p99), SQLite ${aside(results, 'sqlite p50 from the creation')} and ${aside(results, 'sqlite p99 from the creation')}.
- Memory is what the operating system counts as resident in a process that answers and sends, whose receivers never answer.

\`npm run bench -- --quick\` takes under two minutes, with smaller shops, and writes nothing. \`--only create,get\` and \`--engine sqlite\` choose.
\`--page\` writes this page anew from the last full run, for when \`bench/notes.md\` has changed.`;

const pageOf = (results: Results): string => {
  const { facts, rows } = results;
  return `# Performance

Written by \`npm run bench\`; what it measures and how is in \`bench/\`. Figures on shared machines drift, so the ones to look at are ratios:
each is measured against a bare baseline in the same run, taking turns with it, and is the median of ${facts.rounds} rounds.

Measured on ${facts.date} at commit ${facts.commit}, in ${facts.minutes.toFixed(1)} minutes, on ${facts.machine}
(before the run ${facts.busyBefore.toFixed(1)} processes wanted a core). ${facts.software.join(', ')}. Load from ${facts.loadTool}.

## Goals and what was measured

${markdownTable(HEAD, rows.map(rowCells))}

![Throughput as a multiple of the bare baselines](images/throughput.svg)

![Time of a request against the number of RMAs in one shop](images/growth.svg)

## Where a goal is not met

${notesOf(rows)}

${baselines(results)}

${method(results)}

## When one PostgreSQL is not enough

${arithmetic(results)}
`;
};
