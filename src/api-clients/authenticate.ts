import { randomBytes } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { afterFailure } from '../db/database-errors.ts';
import { batched } from '../lib/batch.ts';
import type { Base } from '../service/context.ts';
import { ServiceError } from '../service/errors.ts';
import { describeError } from '../service/log.ts';
import { sha256 } from '../service/secrets.ts';
import type { Caller } from '../shops/plans.ts';
import { findByKeyHashes, touchClients } from './store.ts';

const KEY_PREFIX = 'handback_ext_';
const SECRET_PREFIX = 'whsec_';
/** 192 random bits cannot be guessed, so a plain SHA-256 is enough to store them. */
const RANDOM_BYTES = 24;
const KEY = new RegExp(`^${KEY_PREFIX}[0-9a-f]{${RANDOM_BYTES * 2}}$`);

export const newApiKey = (): string => KEY_PREFIX + randomBytes(RANDOM_BYTES).toString('hex');
export const newWebhookSecret = (): string => SECRET_PREFIX + randomBytes(RANDOM_BYTES).toString('hex');
const isApiKey = (value: string): boolean => KEY.test(value);

/** `lastUsedAt` helps people find unused keys. Exact to the minute is enough, and saves a write per request. */
const LAST_USED_STEP_MS = 60_000;

const BEARER = /^Bearer +(\S+)$/i;

const keyIn = (headers: IncomingHttpHeaders): string | null => {
  const direct = [headers['x-api-key']].flat()[0] || null;
  const bearer = BEARER.exec(headers.authorization ?? '')?.[1] ?? null;
  if (direct && bearer && direct !== bearer) return null;
  return direct ?? bearer;
};

/** Writes `lastUsedAt` in the background: no request waits for it, and none fails because of it. */
const lastUseWriter = (base: Base) => {
  const inProgress = new Set<string>();
  const write = batched(
    async (ids: string[]) => {
      const now = base.clock.now();
      await touchClients(base, ids, now, now - LAST_USED_STEP_MS);
      return ids;
    },
    { most: 200, afterFailure },
  );
  return (clientId: string): void => {
    if (inProgress.has(clientId)) return;
    inProgress.add(clientId);
    write(clientId)
      .catch((error) =>
        base.log.warn({ clientId, error: describeError(error) }, 'could not note the last use of a client'),
      )
      .finally(() => inProgress.delete(clientId));
  };
};

export type Authenticate = (headers: IncomingHttpHeaders) => Promise<Caller>;

export const createAuthenticate = (base: Base): Authenticate => {
  const byKeyHash = batched((hashes: string[]) => findByKeyHashes(base, hashes), {
    most: 200,
    atOnce: 2,
    afterFailure,
  });
  const writeLastUse = lastUseWriter(base);

  return async (headers) => {
    const key = keyIn(headers);
    const found = key && isApiKey(key) ? await byKeyHash(sha256(key)) : null;
    if (!found) throw new ServiceError('UNAUTHENTICATED', { headers: { 'www-authenticate': 'Bearer' } });
    const { client, shop } = found;

    if (client.lastUsedAt === null || client.lastUsedAt < base.clock.now() - LAST_USED_STEP_MS)
      writeLastUse(client.id);
    return {
      shop,
      actor: { type: 'API_CLIENT', id: client.id, name: client.name },
      hasWebhook: client.webhookUrl !== null,
    };
  };
};
