import type { Edit } from './variant.ts';

/** What the mechanism is for. */
export type Purpose = 'create' | 'one creation' | 'get' | 'one get' | 'list' | 'drain';

/** Something that exists only for speed, and how to take it away. */
export interface Mechanism {
  name: string;
  purpose: Purpose;
  /** What it gained when it was last measured, in percent. */
  gainPercent: number;
  edits: Edit[];
  /** Without its V8 flags. */
  withoutFlags?: boolean;
}

const POSTGRES = 'src/db/postgres';

export const MECHANISMS: Mechanism[] = [
  {
    name: 'creations in batches',
    purpose: 'create',
    gainPercent: 281,
    edits: [
      {
        file: `${POSTGRES}/open.ts`,
        find: 'const BATCH_SIZE = 24;',
        replace: 'const BATCH_SIZE = 1;',
      },
    ],
  },
  {
    name: 'a batch begins when the one before is sent',
    purpose: 'create',
    gainPercent: 18,
    edits: [
      {
        file: 'src/lib/batch.ts',
        find: 'if (this.#unsent.delete(batch)) this.#start();',
        replace: '',
      },
    ],
  },
  {
    name: "a batch's changes as one statement",
    purpose: 'one creation',
    gainPercent: 19,
    edits: [
      {
        file: `${POSTGRES}/transaction.ts`,
        find: 'writes.length > 0 ? [this.#write(connection, writes)] : [];',
        replace: 'writes.map((write) => this.#write(connection, [write]));',
      },
    ],
  },
  {
    name: 'begin and reads in one packet',
    purpose: 'one creation',
    gainPercent: 25,
    edits: [
      {
        file: `${POSTGRES}/transaction.ts`,
        find: '        connection.query(begin),\n',
        replace: '        await connection.query(begin),\n',
      },
    ],
  },
  {
    name: 'statements compiled once',
    purpose: 'create',
    gainPercent: 26,
    edits: [
      {
        file: 'src/db/statements.ts',
        find: 'readonly #compiled = new Map<string, CompiledQuery>();',
        replace: 'get #compiled() { return new Map<string, CompiledQuery>(); }',
      },
    ],
  },
  {
    name: 'prepared statements',
    purpose: 'get',
    gainPercent: 15,
    edits: [
      {
        file: `${POSTGRES}/pools.ts`,
        find: 'values.length > 0 ? nameOf(text) : undefined',
        replace: 'undefined',
      },
    ],
  },
  {
    name: 'plans that are kept whatever the values',
    purpose: 'one creation',
    gainPercent: 10,
    edits: [
      {
        file: `${POSTGRES}/pools.ts`,
        find: "  plan_cache_mode: 'force_generic_plan',\n",
        replace: '',
      },
    ],
  },
  {
    name: 'keys and rows looked up in batches',
    purpose: 'get',
    gainPercent: 79,
    edits: [
      {
        file: 'src/lib/batch.ts',
        find: 'const size = alone === 0 ? 1 : Math.min(most, alone === -1 ? most : alone);',
        replace: 'const size = 1;',
      },
      {
        file: 'src/lib/batch.ts',
        find: 'while (this.#unsent.size < this.#options.atOnce &&',
        replace: 'while (this.#unsent.size < 64 &&',
      },
    ],
  },
  {
    name: 'one packet for what is asked in one turn of the event loop',
    purpose: 'one creation',
    gainPercent: 11,
    edits: [{ file: `${POSTGRES}/pools.ts`, find: '    stream.cork();\n', replace: '' }],
  },
  {
    name: 'the row of a get is read while its key is checked',
    purpose: 'one get',
    gainPercent: 41,
    edits: [
      {
        file: 'src/api/external-gates.ts',
        find: '    request.ahead = readAhead?.(request.params);\n',
        replace: '',
      },
    ],
  },
  {
    name: 'the key is looked up while the rate limit is counted',
    purpose: 'one get',
    gainPercent: 48,
    edits: [
      {
        file: 'src/api/external-gates.ts',
        find: '    const finding = ctx.authenticate(',
        replace: '    await counted;\n    const finding = ctx.authenticate(',
      },
    ],
  },
  {
    name: 'lists that are asked for together share a packet',
    purpose: 'list',
    gainPercent: 73,
    edits: [
      {
        file: `${POSTGRES}/open.ts`,
        find: 'const LISTS_A_PACKET = 16;',
        replace: 'const LISTS_A_PACKET = 1;',
      },
    ],
  },
  { name: 'V8 flags of npm start', purpose: 'create', gainPercent: 13, edits: [], withoutFlags: true },
];
