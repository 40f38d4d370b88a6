import { randomBytes } from 'node:crypto';
import { pino } from 'pino';
import { describe, expect, it, onTestFinished } from 'vitest';
import { readConfig } from '../../src/service/config.ts';
import { openContext } from '../../src/service/context.ts';
import { startWebhooks } from '../../src/webhooks/worker/dispatcher.ts';
import { ENGINE } from '../support/harness.ts';
import { onServer } from '../support/postgres-databases.ts';
import { startPostgres } from '../support/postgres-server.ts';
import { SECRET_KEY, timed } from '../support/process.ts';
import { startReceiver } from '../support/receiver.ts';
import { seedReceivers } from '../support/seed-webhooks.ts';
import { until } from '../support/until.ts';
import { expectWithin } from '../support/within.ts';

if (ENGINE === 'postgres')
  describe('a stop of webhooks while the database does not answer', () => {
    it('ends in time, says what was left, and the attempts are made again', async () => {
      const postgres = await startPostgres();
      onTestFinished(postgres.stop);
      const name = `away_${randomBytes(4).toString('hex')}`;
      await onServer(postgres.url, `create database ${name}`);
      const env = {
        DATABASE_URL: postgres.url.replace(/\/postgres$/, `/${name}`),
        SECRET_KEY,
        WEBHOOK_ALLOW_PRIVATE_NETWORKS: 'true',
      };
      const answers: (() => void)[] = [];
      const receiver = await startReceiver((_n, response) => {
        answers.push(() => void response.writeHead(200).end());
        return undefined;
      });
      await seedReceivers(env, [{ url: receiver.url, events: 5 }]);
      const logs: string[] = [];
      const log = pino({ level: 'info' }, { write: (line: string) => void logs.push(line) });
      const ctx = await openContext(readConfig(env), { log });
      onTestFinished(() => ctx.close());
      const stop = await startWebhooks(ctx);
      await until('all five are under way', () => answers.length === 5);

      postgres.freeze();
      for (const answer of answers) answer();
      const { ms } = await timed(stop);
      postgres.thaw();
      expectWithin(ms, 8_000);
      expect(logs.join('')).toContain('webhook results were not written before the stop');

      receiver.behave(() => 200);
      onTestFinished(await startWebhooks(ctx));
      await until(
        'every delivery has ended',
        async () => {
          const rows = await ctx.db.selectFrom('webhook_deliveries').select('status').execute();
          return rows.every(({ status }) => status === 'DELIVERED');
        },
        30_000,
      );
    });
  });
