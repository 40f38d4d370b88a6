import type { IncomingHttpHeaders } from 'node:http';
import type { Caller } from '../caller.ts';
import { type Context, onePer } from '../context.ts';
import { batched } from '../db/batch.ts';
import { describeError } from '../describe-error.ts';
import { ServiceError } from '../errors.ts';
import { hashOfKey, isApiKey } from './api-key.ts';
import { findByKeyHashes, touchClients } from './store.ts';

/** `lastUsedAt` is for people who look for unused keys: to the minute is exact enough, and spares a write per request. */
const LAST_USED_STEP_MS = 60_000;

const BEARER = /^Bearer +(\S+)$/i;

/** The key a request carries, or null where there is none or two headers disagree. */
const keyIn = (headers: IncomingHttpHeaders): string | null => {
  const direct = [headers['x-api-key']].flat()[0] || null;
  const bearer = BEARER.exec(headers.authorization ?? '')?.[1] ?? null;
  if (direct && bearer && direct !== bearer) return null;
  return direct ?? bearer;
};

const byKeyHash = onePer((ctx) =>
  batched((hashes: string[]) => findByKeyHashes(ctx, hashes), { most: 200, atOnce: 2 }),
);

/** Notes the last use, in the background: nobody waits for the note, and none is turned away because it cannot be written. */
const touch = onePer((ctx) => {
  const underWay = new Set<string>();
  const note = batched(
    async (ids: string[]) => {
      const now = ctx.clock.now();
      await touchClients({ ...ctx, db: ctx.withoutFsync }, ids, now, now - LAST_USED_STEP_MS);
      return ids;
    },
    { most: 200, atOnce: 1 },
  );
  return (clientId: string): void => {
    if (underWay.has(clientId)) return;
    underWay.add(clientId);
    note(clientId)
      .catch((error) =>
        ctx.log.warn({ clientId, fault: describeError(error) }, 'could not note the last use of a client'),
      )
      .finally(() => underWay.delete(clientId));
  };
});

export const authenticate = async (ctx: Context, headers: IncomingHttpHeaders): Promise<Caller> => {
  const key = keyIn(headers);
  const found = key && isApiKey(key) ? await byKeyHash(ctx)(hashOfKey(key)) : null;
  if (!found) throw new ServiceError('UNAUTHORIZED', { headers: { 'www-authenticate': 'Bearer' } });
  const { client, shop } = found;

  if (client.lastUsedAt === null || client.lastUsedAt < ctx.clock.now() - LAST_USED_STEP_MS)
    touch(ctx)(client.id);
  return {
    shop,
    actor: { type: 'API_CLIENT', id: client.id, name: client.name },
    hasWebhook: client.webhookUrl !== null,
  };
};
