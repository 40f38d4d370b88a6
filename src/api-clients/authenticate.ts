import type { IncomingHttpHeaders } from 'node:http';
import type { Base } from '../base.ts';
import type { Caller } from '../caller.ts';
import { afterFailure } from '../db/errors.ts';
import { describeError } from '../describe-error.ts';
import { ServiceError } from '../errors.ts';
import { batched } from '../lib/batch.ts';
import { hashOfKey, isApiKey } from './api-key.ts';
import { findByKeyHashes, touchClients } from './store.ts';

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
const lastUseWriter = ({
  clock,
  log,
  background: db,
  oneOf,
}: Pick<Base, 'clock' | 'log' | 'background' | 'oneOf'>) => {
  const inProgress = new Set<string>();
  const write = batched(
    async (ids: string[]) => {
      const now = clock.now();
      await touchClients({ db, oneOf }, ids, now, now - LAST_USED_STEP_MS);
      return ids;
    },
    { most: 200, afterFailure },
  );
  return (clientId: string): void => {
    if (inProgress.has(clientId)) return;
    inProgress.add(clientId);
    write(clientId)
      .catch((error) =>
        log.warn({ clientId, fault: describeError(error) }, 'could not note the last use of a client'),
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
    const found = key && isApiKey(key) ? await byKeyHash(hashOfKey(key)) : null;
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
