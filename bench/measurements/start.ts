import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { freePort } from '../../test/support/postgres-server.ts';
import type { TestDatabase } from '../databases.ts';
import { median } from '../figures.ts';
import type { Measurement } from '../measurement.ts';
import { serviceEnv } from '../service.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** `npm start` as an operator types it, on a large database, with everything it reads in the machine's cache. */
export const start: Measurement = {
  name: 'start',
  engines: ['postgres', 'sqlite'],
  async run(stage) {
    const { engine, effort } = stage;
    const { database, service } = await stage.oneShop(effort.large);
    await service.stop();
    await startOnce(database);
    const seconds: number[] = [];
    for (let round = 0; round < effort.rounds; round++) seconds.push(await startOnce(database));
    return {
      rows: [
        {
          work: `\`npm start\` to ready, warm, ${effort.large.toLocaleString('en')} RMAs`,
          engine,
          measured: median(seconds),
          unit: 's',
          goal: { bound: 'most', value: 1 },
        },
      ],
    };
  },
};

const startOnce = async (database: TestDatabase): Promise<number> => {
  const env = serviceEnv(database, await freePort());
  const begun = performance.now();
  // A group of its own: npm, its shell and the service end together.
  const npm = spawn('npm', ['start'], {
    cwd: ROOT,
    env,
    detached: true,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const ended = new Promise((resolve) => npm.once('exit', resolve));
  await new Promise<void>((resolve, reject) => {
    let said = '';
    npm.stderr.on('data', (chunk) => {
      said += chunk;
      if (/is ready at/.test(said)) resolve();
    });
    npm.once('error', reject);
    npm.once('exit', () => reject(new Error(`npm start ended: ${said}`)));
  });
  const seconds = (performance.now() - begun) / 1000;
  process.kill(-(npm.pid as number), 'SIGTERM');
  await ended;
  return seconds;
};
