// engines: sqlite, postgres

import { expect, it } from 'vitest';
import { effort, measured } from '../../support/faults.ts';
import type { ApiResponse } from '../../support/http.ts';
import { cli, type Env, migratedDatabase, type ServerProcess, startAll } from '../../support/process.ts';
import { atOnce } from '../../support/responses.ts';
import { addPerson, makeShop, type SignedIn, signIn } from '../../support/shops.ts';
import { scaled, until } from '../../support/until.ts';

const ROUNDS = effort(4, 50);
const CALLERS = 8;
const AFTERWARDS = 4;

interface Client {
  id: string;
  apiKey: string;
}

/** Ways in which a key becomes void; each gives the key that is good from then on, if there is one. */
const WAYS: ((env: Env, admin: SignedIn, at: ServerProcess, client: Client) => Promise<string | null>)[] = [
  async (_env, admin, at, { id }) => {
    expect(await admin.post(at, `/clients/${id}/revoke`)).toHaveStatus(200);
    return null;
  },
  async (_env, admin, at, { id }) => {
    const response = await admin.post(at, `/clients/${id}/replace`);
    expect(response).toHaveStatus(201);
    return response.body.apiKey;
  },
  async (env, _admin, _at, { id }) => {
    await cli(['client', 'revoke', id], env);
    return null;
  },
];

/** Callers that use a key without a pause, at all processes, until each has begun some requests after it became void. */
const keepCalling = (servers: ServerProcess[], key: string) => {
  const seen = { accepted: 0, afterwards: [] as ApiResponse[] };
  let isVoid = false;
  const caller = async (n: number) => {
    for (let i = n, after = 0; after < AFTERWARDS; i++) {
      const beganAfter = isVoid;
      const server = servers[i % servers.length] as ServerProcess;
      const response =
        n % 2 === 0
          ? await server.get('/offline-repairs?limit=1', { key })
          : await server.create({}, { key });
      if (beganAfter) {
        after += 1;
        seen.afterwards.push(response);
      } else if (response.status < 300) seen.accepted += 1;
      // Begun before, it may still be let in or be turned away.
      else expect(response).toHaveStatus(401);
    }
  };
  const done = atOnce(CALLERS, caller);
  done.catch(() => {});
  return {
    seen,
    done,
    becameVoid: () => {
      isVoid = true;
    },
  };
};

it('a key that is revoked or replaced under load is refused for every request that begins after the response', {
  timeout: scaled(300_000),
}, async () => {
  const env = await migratedDatabase();
  const { shopId } = await makeShop(env);
  const person = await addPerson(env, shopId, 'ADMIN');
  const servers = await startAll(env);
  const admin = await signIn(servers[0] as ServerProcess, person);
  let refused = 0;
  for (let round = 0; round < ROUNDS; round++) {
    const at = servers[round % servers.length] as ServerProcess;
    const made = await admin.post(at, '/clients', { name: `Till ${round}` });
    expect(made).toHaveStatus(201);
    const callers = keepCalling(servers, made.body.apiKey);
    await until('the key is in use', () => callers.seen.accepted >= 2 * CALLERS);
    // The command line takes its turn once in a while: it starts a process each time.
    const way = WAYS[round % 4 === 3 ? 2 : round % 2] as (typeof WAYS)[number];
    const nextKey = await way(env, admin, at, made.body);
    callers.becameVoid();
    const followers = nextKey
      ? await Promise.all(servers.map((server) => server.get('/usage', { key: nextKey })))
      : [];
    await callers.done;
    expect(callers.seen.afterwards).toHaveLength(CALLERS * AFTERWARDS);
    for (const response of callers.seen.afterwards) expect(response, `round ${round}`).toHaveStatus(401);
    for (const response of followers) expect(response).toHaveStatus(200);
    refused += callers.seen.afterwards.length;
  }
  measured(12, `${ROUNDS} keys, ${refused} requests that began afterwards, 0 accepted`);
});
