import { randomBytes } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { sql } from 'kysely';
import type { Right } from '../../contract/common.ts';
import { afterFailure } from '../db/database-errors.ts';
import { SHOP_COLUMNS } from '../db/schema.ts';
import { statement } from '../db/statements.ts';
import { batched } from '../lib/batch.ts';
import { toIso } from '../lib/time.ts';
import type { Core } from '../platform/core.ts';
import { ServiceError } from '../platform/errors.ts';
import { describeError } from '../platform/log.ts';
import { sha256 } from '../platform/secrets.ts';
import { type Caller, shopFrom } from '../shops/plans.ts';

const KEY_PREFIX = 'handback_ext_';
/** 192 random bits cannot be guessed, so a plain SHA-256 is enough to store them. */
const RANDOM_BYTES = 24;
const KEY = new RegExp(`^${KEY_PREFIX}[0-9a-f]{${RANDOM_BYTES * 2}}$`);

export const newApiKey = (): string => `${KEY_PREFIX}${randomBytes(RANDOM_BYTES).toString('hex')}`;
export const newWebhookSecret = (): string => `whsec_${randomBytes(RANDOM_BYTES).toString('hex')}`;

/** `lastUsedAt` helps people find unused keys. A precision of a minute is enough, and saves a write per request. */
const KEY_USE_PRECISION_MS = 60_000;

const keyIn = (headers: IncomingHttpHeaders): string | null => {
  const direct = [headers['x-api-key']].flat()[0] || null;
  const bearer = /^Bearer +(\S+)$/i.exec(headers.authorization ?? '')?.[1] ?? null;
  if (direct && bearer && direct !== bearer) return null;
  return direct ?? bearer;
};

const activeByKeyHash = statement(({ db, oneOf }, { hashes }: { hashes: string[] }) =>
  db
    .selectFrom('api_clients as client')
    .innerJoin('shops as shop', 'shop.id', 'client.shop_id')
    // The key of a replaced client may still work, while events go to the client that replaced it.
    .leftJoin('api_clients as current', (join) =>
      join
        .onRef('current.receiver_id', '=', 'client.receiver_id')
        .on('current.replaced_by', 'is', null)
        .on('current.revoked_at', 'is', null)
        .on('current.webhook_url', 'is not', null),
    )
    .select(SHOP_COLUMNS.map((column) => `shop.${column}` as const))
    .select([
      'client.id as client_id',
      'client.key_hash',
      'client.name as client_name',
      'client.last_used_at',
      'client.rights',
      'client.expires_at',
      'client.receiver_id',
      'current.id as current_id',
      'current.events',
    ])
    .where(sql<boolean>`client.key_hash ${oneOf('text', hashes)}`)
    .where('client.revoked_at', 'is', null),
);

/** Finds the active clients with these keys. It runs for every request, so that a revoked key fails immediately. */
const findByKeyHashes = async ({ reads, fill }: Core, hashes: string[]) => {
  const { rows } = await reads.executeQuery(fill(activeByKeyHash, { hashes: [...new Set(hashes)] }));
  const byHash = new Map(rows.map((row) => [row.key_hash, row]));
  return hashes.map((hash) => byHash.get(hash) ?? null);
};

/** It skips rows that another process is writing. */
const writeLastUsed = async ({ background, oneOf, clock }: Core, ids: string[]): Promise<string[]> => {
  const now = clock.now();
  const free = background
    .selectFrom('api_clients')
    .select('id')
    .where(sql<boolean>`id ${oneOf('id', ids)}`)
    .where(sql<boolean>`coalesce(last_used_at, 0) < ${now - KEY_USE_PRECISION_MS}`)
    .forUpdate()
    .skipLocked();
  await background.updateTable('api_clients').set({ last_used_at: now }).where('id', 'in', free).execute();
  return ids;
};

/** Writes `lastUsedAt` in the background: no request waits for it, and none fails because of it. */
const lastUseWriter = (ctx: Core) => {
  const inProgress = new Set<string>();
  const write = batched((ids: string[]) => writeLastUsed(ctx, ids), { most: 200, afterFailure });
  return (clientId: string): void => {
    if (inProgress.has(clientId)) return;
    inProgress.add(clientId);
    write(clientId)
      .catch((error) =>
        ctx.log.warn({ clientId, error: describeError(error) }, 'could not record the last use of a client'),
      )
      .finally(() => inProgress.delete(clientId));
  };
};

const unauthenticated = (message?: string): ServiceError =>
  new ServiceError('UNAUTHENTICATED', {
    ...(message && { message }),
    headers: { 'www-authenticate': 'Bearer' },
  });

export type Authenticate = (headers: IncomingHttpHeaders) => Promise<Caller>;

export const createAuthenticate = (ctx: Core): Authenticate => {
  const byKeyHash = batched((hashes: string[]) => findByKeyHashes(ctx, hashes), {
    most: 200,
    atOnce: 2,
    afterFailure,
  });
  const writeLastUse = lastUseWriter(ctx);

  return async (headers) => {
    const key = keyIn(headers);
    const found = key && KEY.test(key) ? await byKeyHash(sha256(key)) : null;
    if (!found) throw unauthenticated();
    const { client_id: id, client_name: name, last_used_at: lastUsedAt, expires_at: expiresAt } = found;
    const { id: shop_id, receiver_id: receiverId, current_id: currentId, events } = found;
    if (expiresAt !== null && expiresAt <= ctx.clock.now())
      throw unauthenticated(
        `The API key expired at ${toIso(expiresAt)}: an Admin can give it a later end, or replace the client.`,
      );
    if ((lastUsedAt ?? 0) < ctx.clock.now() - KEY_USE_PRECISION_MS) writeLastUse(id);
    return {
      shop: shopFrom(found),
      actor: { type: 'API_CLIENT', id, name },
      rights: found.rights.split(',') as Right[],
      receiverId,
      receiver: currentId ? { id: receiverId, shop_id, events } : null,
    };
  };
};
