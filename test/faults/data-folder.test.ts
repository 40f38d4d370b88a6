import { chmodSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ENGINE } from '../support/harness.ts';
import { emptyDatabase, startServer } from '../support/process.ts';

const modesIn = (folder: string): Record<string, string> =>
  Object.fromEntries(
    readdirSync(folder).map((name) => [name, (statSync(join(folder, name)).mode & 0o777).toString(8)]),
  );
const private600 = (names: string[]) => Object.fromEntries(names.map((name) => [name, '600']));

if (ENGINE === 'sqlite')
  describe('the data folder', () => {
    const FILES = [
      'handback.lock',
      'handback.sqlite',
      'handback.sqlite-shm',
      'handback.sqlite-wal',
      'secret.key',
    ];

    it.each(['000', '022', '277'])('is for its owner alone with a umask of %s', async (umask) => {
      const env = await emptyDatabase();
      const folder = env['DATA_DIR'] as string;
      await startServer(env, { umask: Number.parseInt(umask, 8) });
      expect(modesIn(folder)).toEqual(private600(FILES));
    });

    it('is narrowed at the next start where others could read it', async () => {
      const env = await emptyDatabase();
      const folder = env['DATA_DIR'] as string;
      const server = await startServer(env);
      // A crash leaves the log and its index behind.
      await server.stop('SIGKILL');
      for (const name of FILES) chmodSync(join(folder, name), 0o644);
      await startServer(env);
      expect(modesIn(folder)).toEqual(private600(FILES));
    });
  });
