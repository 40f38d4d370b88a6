import { describe, expect, it } from 'vitest';
import { repairBody } from '../support/bodies.ts';
import { type Answer, ENGINE } from '../support/harness.ts';
import { type Env, migratedDatabase, type ServerProcess, startServer } from '../support/process.ts';
import { makeShop } from '../support/shops.ts';

const twoServers = async (env: Env, key: string): Promise<[ServerProcess, ServerProcess]> =>
  Promise.all([startServer(env, { key }), startServer(env, { key })]);

const statuses = (answers: Answer[]): Record<number, number> => {
  const counts: Record<number, number> = {};
  for (const { status } of answers) counts[status] = (counts[status] ?? 0) + 1;
  return counts;
};

if (ENGINE === 'postgres')
  describe('two processes on one database', () => {
    it('give every RMA a number of its own', async () => {
      const env = await migratedDatabase();
      const { key } = await makeShop(env);
      const servers = await twoServers(env, key);
      const answers = await Promise.all(
        Array.from({ length: 60 }, (_, i) =>
          (servers[i % 2] as ServerProcess).post('/offline-repairs', repairBody()),
        ),
      );
      expect(statuses(answers)).toEqual({ 201: 60 });
      expect(new Set(answers.map((answer) => answer.body.rmaNumber)).size).toBe(60);
      expect(new Set(answers.map((answer) => answer.body.id)).size).toBe(60);
    });

    it('go on when one of them is killed', async () => {
      const env = await migratedDatabase();
      const { key } = await makeShop(env);
      const [one, other] = await twoServers(env, key);
      const { body } = await one.post('/offline-repairs', repairBody());
      expect((await one.stop('SIGKILL')).signal).toBe('SIGKILL');
      expect((await other.get(`/offline-repairs/${body.id}`)).status).toBe(200);
      expect((await other.post('/offline-repairs', repairBody())).body.rmaNumber).toBe('#RMA-000002');
    });
  });
