import { sql } from 'kysely';
import type { Base } from '../base.ts';
import type { Db, Trx, Write } from '../db/database.ts';
import { prune } from '../db/prune.ts';
import type { Row } from '../db/schema.ts';
import { change, statement } from '../db/statements.ts';
import { ServiceError } from '../errors.ts';
import { sha256 } from '../secrets.ts';

const REMEMBERED_MS = 24 * 60 * 60 * 1000;
/** What was created, and whether it is the answer of an earlier request with the same key. */
export interface Created<Answer> {
  answer: Answer;
  replayed: boolean;
}

/** A client's key on one request. */
export interface KeyUse {
  clientId: string;
  key: string;
  /** Of the validated body and the collection's path. */
  bodyHash: string;
}

/**
 * Only what the caller sent, in one order: an optional field that a later release adds to the schema is null in the bodies of callers
 * that do not know it, and must not turn their retries into another request.
 */
const sentFields = (_name: string, value: unknown): unknown =>
  typeof value !== 'object' || value === null || Array.isArray(value)
    ? value
    : Object.fromEntries(
        Object.entries(value)
          .filter(([, field]) => field !== null)
          .sort(([one], [other]) => (one < other ? -1 : 1)),
      );

export const keyUse = (clientId: string, key: string, path: string, body: unknown): KeyUse => ({
  clientId,
  key,
  bodyHash: sha256(`${path}\n${JSON.stringify(body, sentFields)}`),
});

const nameOf = ({ clientId, key }: Pick<KeyUse, 'clientId' | 'key'>): string => `${clientId}:${key}`;

/** What is known of the keys of some requests: who has used them before, or is just using them. */
export interface Memory {
  /** The first answer to the same request, or null where it is the first; refuses what is no retry. */
  recall(use: KeyUse, nowMs: number): unknown;
}

const NOTHING_KNOWN: Memory = { recall: () => null };

/** Holds the keys until the transaction ends: while they are in use here, other processes are told so. */
export const lockKeys = async (
  ctx: Pick<Base, 'tryLocks' | 'rows'>,
  trx: Trx,
  uses: KeyUse[],
): Promise<Memory> => {
  if (uses.length === 0) return NOTHING_KNOWN;
  const [elsewhere, kept] = await Promise.all([
    ctx.tryLocks(trx, uses.map(nameOf)),
    keptAnswers(ctx, trx, uses),
  ]);
  return memoryOf(kept, elsewhere);
};

/** What is remembered of a key, for whoever only asks: it holds nothing, and who is just using the key is not known. */
export const readKey = async (ctx: Pick<Base, 'reads' | 'rows'>, use: KeyUse | null): Promise<Memory> =>
  use === null ? NOTHING_KNOWN : memoryOf(await keptAnswers(ctx, ctx.reads, [use]), new Set());

type Kept = Map<string, Row<'idempotency_keys'>>;

const keptAnswers = async (ctx: Pick<Base, 'rows'>, db: Db, uses: KeyUse[]): Promise<Kept> => {
  const asked = ctx.rows(
    'asked',
    { client_id: 'id', key: 'text' },
    uses.map(({ clientId, key }) => ({ client_id: clientId, key })),
  );
  const { rows } = await sql<Row<'idempotency_keys'>>`
    select kept.client_id, kept.key, kept.body_hash, kept.answer, kept.created_at from ${asked}
    join idempotency_keys as kept on kept.client_id = asked.client_id and kept.key = asked.key`.execute(db);
  return new Map(rows.map((row) => [nameOf({ clientId: row.client_id, key: row.key }), row]));
};

const memoryOf = (kept: Kept, elsewhere: ReadonlySet<string>): Memory => ({
  recall(use, nowMs) {
    const name = nameOf(use);
    if (elsewhere.has(name)) throw new ServiceError('IDEMPOTENCY_KEY_IN_USE');
    const first = kept.get(name);
    if (!first || first.created_at <= nowMs - REMEMBERED_MS) return null;
    if (first.body_hash !== use.bodyHash) throw new ServiceError('IDEMPOTENCY_KEY_REUSED');
    return JSON.parse(first.answer);
  },
});

/** Remembers answers in the transaction that makes them; one of more than a day ago gives way. Only success is remembered. */
export const remember = (answers: { use: KeyUse; answer: unknown; nowMs: number }[]): Write[] => {
  if (answers.length === 0) return [];
  const kept = answers.map(({ use: { clientId, key, bodyHash }, answer, nowMs }) => ({
    client_id: clientId,
    key,
    body_hash: bodyHash,
    answer: JSON.stringify(answer),
    created_at: nowMs,
  }));
  return [change(keepingAnswers, { kept })];
};

const keepingAnswers = statement(({ rows }, { kept }: { kept: object[] }) => {
  const columns = {
    client_id: 'id',
    key: 'text',
    body_hash: 'text',
    answer: 'text',
    created_at: 'integer',
  } as const;
  return sql`
    insert into idempotency_keys (client_id, key, body_hash, answer, created_at)
    select client_id, key, body_hash, answer, created_at from ${rows('fresh', columns, kept)} where true
    on conflict (client_id, key) do update
    set body_hash = excluded.body_hash, answer = excluded.answer, created_at = excluded.created_at`;
});

/** Keys in use in this process, by name. A second request with one of them is refused until the first has ended. */
export const keysInUse = () => {
  const names = new Set<string>();
  return async <Result>(use: KeyUse | null, work: () => Promise<Result>): Promise<Result> => {
    if (!use) return work();
    const name = nameOf(use);
    if (names.has(name)) throw new ServiceError('IDEMPOTENCY_KEY_IN_USE');
    names.add(name);
    try {
      return await work();
    } finally {
      names.delete(name);
    }
  };
};

/** Forgets what is past its day; true when more may be left. */
export const forgetExpiredKeys = (ctx: Pick<Base, 'background'>, nowMs: number): Promise<boolean> =>
  prune(ctx, { table: 'idempotency_keys', by: 'created_at', upTo: nowMs - REMEMBERED_MS });
