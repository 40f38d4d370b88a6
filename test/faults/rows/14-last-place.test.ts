// engines: sqlite, postgres

import { expect, it } from 'vitest';
import { bodyOf, KINDS, type Kind } from '../../support/api.ts';
import { effort, FULL, measured, movableClock, type SetClock } from '../../support/faults.ts';
import { type ApiResponse, ENGINE } from '../../support/harness.ts';
import {
  lookInto,
  migratedDatabase,
  ownPostgres,
  type ServerProcess,
  startAll,
} from '../../support/process.ts';
import { atOnce } from '../../support/responses.ts';
import { makeShop } from '../../support/shops.ts';
import { needs, onlyIf } from '../../support/tools.ts';
import { scaled, until } from '../../support/until.ts';

const ROUNDS = effort(1, 10);
const AT_ONCE = effort(80, 200);

/** Sends this many creations at once, of both kinds, to all processes in turn. */
const createMany = (servers: ServerProcess[], key: string, count: number): Promise<ApiResponse[]> =>
  atOnce(count, (i) => {
    const kind = KINDS[(i >> 1) % 2] as Kind;
    return (servers[i % servers.length] as ServerProcess).post(`/${kind}`, bodyOf[kind](), { key });
  });

/** The created returns; expects all other requests to be refused because of the allowance. */
const createdOf = (responses: ApiResponse[]): ApiResponse['body'][] => {
  for (const response of responses)
    if (response.status !== 201) expect(response).toFailWith(403, 'LIMIT_EXCEEDED');
  return responses.filter(({ status }) => status === 201).map(({ body }) => body);
};

it('the last creation of an allowance goes to one of many simultaneous requests', {
  timeout: scaled(300_000),
}, async () => {
  const env = await migratedDatabase();
  const servers = await startAll(env);
  for (let round = 0; round < ROUNDS; round++) {
    const { shopId, key } = await makeShop(env, { allowance: 3 });
    for (const response of await createMany(servers, key, 2)) expect(response).toHaveStatus(201);
    const created = createdOf(await createMany(servers, key, AT_ONCE));
    expect(created.map(({ rmaNumber }) => rmaNumber)).toEqual(['#RMA-000003']);
    const counter = await lookInto(env)
      .selectFrom('shop_counters')
      .selectAll()
      .where('shop_id', '=', shopId)
      .executeTakeFirstOrThrow();
    expect(counter).toMatchObject({ month_used: 3, last_number: 3 });
  }
  measured(14, `${ROUNDS} × ${AT_ONCE} at once: one 201 each`);
});

const TURN = Date.UTC(2026, 11, 1);
/** From the moment the clock is set: the processes start in it where the clock is the database's. */
const BEFORE_TURN_MS = ENGINE === 'postgres' ? 15_000 : 2_500;

/** A service shortly before the end of the month in UTC. Its time zone, or that of its database, is already in the next day. */
const shortBeforeTurn = async (clock: SetClock): Promise<{ servers: ServerProcess[]; key: string }> => {
  const far = { ...clock.env, TZ: 'Pacific/Auckland' };
  if (ENGINE === 'sqlite') {
    const env = await migratedDatabase();
    const { key } = await makeShop(env, { allowance: 1 });
    const servers = await startAll({ ...env, ...far });
    clock.set(TURN - BEFORE_TURN_MS);
    return { servers, key };
  }
  const { env } = await ownPostgres({ env: far });
  const { key } = await makeShop(env, { allowance: 1 });
  clock.set(TURN - BEFORE_TURN_MS);
  return { servers: await startAll({ ...env, TZ: 'Pacific/Auckland' }), key };
};

// Except in full mode, test/api/allowance.test.ts covers this on PostgreSQL, with a clock that the test sets.
it('at the turn of the month in UTC one creation is accepted before it and one after it', {
  ...onlyIf(ENGINE === 'sqlite' || FULL, 'in short on SQLite only'),
  ...needs('faketime'),
}, async () => {
  const { servers, key } = await shortBeforeTurn(movableClock());
  const responses: ApiResponse[] = [];
  await until(
    'the month has turned',
    async () => {
      responses.push(...(await createMany(servers, key, 20)));
      return (await servers[0]?.get('/usage', { key }))?.body.month === '2026-12';
    },
    BEFORE_TURN_MS + 20_000,
  );
  responses.push(...(await createMany(servers, key, AT_ONCE)));
  const sides = createdOf(responses).map(({ createdAt }) => Date.parse(createdAt) < TURN);
  expect(sides).toEqual([true, false]);
  measured(14, 'around the turn in UTC: one 201 on either side');
});
