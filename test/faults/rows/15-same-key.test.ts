// engines: sqlite, postgres

import { setTimeout as pause } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { repairBody } from '../../support/bodies.ts';
import { effort, measured } from '../../support/faults.ts';
import { HistoryNotes } from '../../support/history/history.ts';
import { type ApiResponse, NoResponse } from '../../support/http.ts';
import {
  lookInto,
  migratedDatabase,
  type ServerProcess,
  Service,
  startAll,
  startServer,
} from '../../support/process.ts';
import { randomOf, SEED } from '../../support/random.ts';
import { atOnce } from '../../support/responses.ts';
import { makeShop } from '../../support/shops.ts';
import { scaled, until } from '../../support/until.ts';

const AT_ONCE = effort(50, 100);
const ROUNDS = effort(1, 10);
const KILLS = effort(1, 10);
/** Keys that are in use when a process is killed, each by some of the callers. */
const KEYS_PER_KILL = 5;

type Create = (server: ServerProcess, key: string) => Promise<ApiResponse>;

const sendAtOnce = async (service: Service, create: Create, key: string): Promise<void> => {
  const responses = await atOnce(AT_ONCE, () => create(service.next, key));
  // While the first is processed, the others get 409.
  for (const response of responses) expect(response).toHaveStatus(201, 409);
  const first = responses.filter(
    ({ status, headers }) => status === 201 && !headers.has('idempotency-replayed'),
  );
  expect(first).toHaveLength(1);
  for (const server of service.servers) {
    const response = await create(server, key);
    expect(response).toHaveStatus(201);
    expect(response.headers.get('idempotency-replayed')).toBe('true');
  }
};

/** Each caller sends its key again until it is acknowledged, through the kill of a process. */
const sendThroughKill = async (
  service: Service,
  create: Create,
  keyOf: (caller: number) => string,
  kill: (answered: () => number) => Promise<void>,
): Promise<void> => {
  let answered = 0;
  const insist = async (key: string): Promise<void> => {
    for (;;)
      try {
        const response = await create(service.next, key);
        answered += 1;
        if (response.status === 201) return;
        expect(response).toHaveStatus(409);
      } catch (error) {
        if (!(error instanceof NoResponse)) throw error;
        await pause(20);
      }
  };
  const callers = atOnce(AT_ONCE, (i) => insist(keyOf(i)));
  await kill(() => answered);
  await callers;
};

it('an idempotency key creates one RMA and one event, also for simultaneous requests and across kills', {
  timeout: scaled(180_000),
}, async () => {
  const random = randomOf(SEED);
  const env = await migratedDatabase();
  const { key: apiKey, clientId } = await makeShop(env);
  const start = () => startServer(env, { key: apiKey });
  const service = new Service();
  service.servers = await startAll(env, apiKey);
  const history = new HistoryNotes();
  const create: Create = async (server, key) => {
    history.keys.push({ clientId, key });
    const body = repairBody({ externalRef: key });
    const response = await server.post('/offline-repairs', body, { headers: { 'idempotency-key': key } });
    history.noteCreation({ clientId, key }, response);
    return response;
  };

  for (let round = 0; round < ROUNDS; round++) await sendAtOnce(service, create, `round-${round}`);
  for (let kill = 0; kill < KILLS; kill++)
    await sendThroughKill(
      service,
      create,
      (i) => `kill-${kill}-${i % KEYS_PER_KILL}`,
      async (answered) => {
        const enough = random.below(AT_ONCE / 4);
        await until(`${enough} are answered`, () => answered() >= enough);
        const victim = random.below(service.servers.length);
        await service.servers[victim]?.stop('SIGKILL');
        service.servers[victim] = await start();
      },
    );

  const { rmas, events } = await history.judged(lookInto(env));
  const keys = ROUNDS + KILLS * KEYS_PER_KILL;
  expect([rmas.length, events.length]).toEqual([keys, keys]);
  measured(
    15,
    `${ROUNDS} keys ${AT_ONCE} times at once, ${KILLS * KEYS_PER_KILL} keys through ${KILLS} kills: one RMA and one event each`,
  );
});
