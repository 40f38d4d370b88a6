import { sql } from 'kysely';
import type { Row } from '../db/schema.ts';
import { change, statement } from '../db/statements.ts';
import type { Write } from '../db/types.ts';
import { withExactNumbers } from '../lib/json.ts';
import { ServiceError } from '../platform/errors.ts';
import { sha256 } from '../platform/secrets.ts';

export const REMEMBERED_MS = 24 * 60 * 60 * 1000;

/** `body_hash` is a hash of the validated body and the collection's path. */
export type KeyUse = Pick<Row<'idempotency_keys'>, 'owner_id' | 'key' | 'body_hash'>;

/**
 * Returns only the fields that the caller sent, sorted. An optional field that a later release adds is null for callers
 * that do not know it, and must not make their retry another request.
 */
const sentFields = (_name: string, value: unknown): unknown =>
  typeof value !== 'object' || value === null || Array.isArray(value)
    ? value
    : Object.fromEntries(
        Object.entries(value)
          .filter(([, field]) => field !== null)
          .sort(([one], [other]) => (one < other ? -1 : 1)),
      );

export const keyUse = (ownerId: string, key: string, path: string, body: unknown): KeyUse => ({
  owner_id: ownerId,
  key,
  body_hash: sha256(`${path}\n${JSON.stringify(body, sentFields)}`),
});

export const keyName = ({ owner_id, key }: KeyUse): string => `${owner_id}:${key}`;

export type StoredResponses = ReadonlyMap<string, Row<'idempotency_keys'>>;

/**
 * A key belongs to a receiver or a person, and every creation locks its shop's counter first, so requests with one key never run
 * concurrently.
 */
export const selectStoredResponses = statement(
  ({ rows }, { asked }: { asked: KeyUse[] }) => sql<Row<'idempotency_keys'>>`
    select kept.owner_id, kept.key, kept.body_hash, kept.response, kept.created_at
    from ${rows('asked', { owner_id: 'id', key: 'text' }, asked)}
    join idempotency_keys as kept on kept.owner_id = asked.owner_id and kept.key = asked.key`,
);

/** Returns the stored response to the same request, or null if there is none. Throws if the key was used for another request. */
export const recall = (kept: StoredResponses, use: KeyUse, nowMs: number): object | null => {
  const first = kept.get(keyName(use));
  if (!first || first.created_at <= nowMs - REMEMBERED_MS) return null;
  if (first.body_hash !== use.body_hash) throw new ServiceError('IDEMPOTENCY_KEY_REUSED');
  return JSON.parse(first.response, withExactNumbers);
};

const KEY_COLUMNS = {
  owner_id: 'id',
  key: 'text',
  body_hash: 'text',
  response: 'text',
  created_at: 'integer',
} as const;

const storingResponses = statement(
  ({ rows }, { kept }: { kept: Row<'idempotency_keys'>[] }) => sql`
    insert into idempotency_keys (owner_id, key, body_hash, response, created_at)
    select owner_id, key, body_hash, response, created_at from ${rows('fresh', KEY_COLUMNS, kept)} where true
    on conflict (owner_id, key) do update
    set body_hash = excluded.body_hash, response = excluded.response, created_at = excluded.created_at`,
);

/** Overwrites a response that is older than a day. Only successful responses are stored. */
export const storeResponses = (kept: Row<'idempotency_keys'>[]): Write => change(storingResponses, { kept });
