import { chmodSync, chownSync, mkdirSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { emptyDatabase, run, startServer, temporaryFolder } from '../support/process.ts';

const modesIn = (folder: string): Record<string, string> =>
  Object.fromEntries(
    readdirSync(folder).map((name) => [name, (statSync(join(folder, name)).mode & 0o777).toString(8)]),
  );
const private600 = (names: string[]) => Object.fromEntries(names.map((name) => [name, '600']));

describe('the data folder', () => {
  const FILES = [
    'handback.lock',
    'handback.sqlite',
    'handback.sqlite-shm',
    'handback.sqlite-wal',
    'secret.key',
  ];

  it.each(['000', '022', '277'])('is readable by its owner only with a umask of %s', async (umask) => {
    const env = await emptyDatabase();
    const folder = env['DATA_DIR'] as string;
    await startServer(env, { shell: `umask ${umask}` });
    expect(modesIn(folder)).toEqual(private600(FILES));
  });

  it('is restricted at the next start if others could read it', async () => {
    const env = await emptyDatabase();
    const folder = env['DATA_DIR'] as string;
    const server = await startServer(env);
    // A crash leaves the log and its index behind.
    await server.stop('SIGKILL');
    for (const name of FILES) chmodSync(join(folder, name), 0o644);
    await startServer(env);
    expect(modesIn(folder)).toEqual(private600(FILES));
  });

  describe('compiled code', () => {
    const program = fileURLToPath(new URL('../../bin/handback.js', import.meta.url));
    const NOBODY = 65_534;

    /** What a command left in the cache below its data folder, and in the one that Node would choose by itself. */
    const cachesAfter = async (prepare: (data: string, cache: string) => void) => {
      const [above, temporary] = [temporaryFolder(), temporaryFolder()];
      const [data, cache] = [join(above, 'data'), join(above, 'data', 'compile-cache')];
      const shared = join(temporary, 'node-compile-cache');
      for (const folder of [data, shared]) mkdirSync(folder, { mode: 0o700 });
      chownSync(shared, NOBODY, NOBODY);
      prepare(data, cache);
      const env = { DATA_DIR: data, TMPDIR: temporary, NODE_COMPILE_CACHE: '' };
      expect(await run(['migrate', '--json'], env, { program })).toMatchObject({ status: 0 });
      const filesIn = (folder: string) => readdirSync(folder, { recursive: true }).length;
      const hasCache = readdirSync(data).includes('compile-cache');
      return {
        own: hasCache && filesIn(cache) > 0,
        mode: hasCache ? (statSync(cache).mode & 0o777).toString(8) : null,
        shared: filesIn(shared),
      };
    };

    it('is cached in its own folder', async () => {
      expect(await cachesAfter(() => {})).toEqual({ own: true, mode: '700', shared: 0 });
    });

    const plant = (cache: string, uid: number, mode: number) => {
      mkdirSync(cache);
      chmodSync(cache, mode);
      chownSync(cache, uid, uid);
    };
    it.skipIf(process.geteuid?.() !== 0).each<[string, (data: string, cache: string) => void]>([
      ['belongs to another user', (_data, cache) => plant(cache, NOBODY, 0o755)],
      ['another user can write to', (_data, cache) => plant(cache, 0, 0o777)],
      ["lies in another user's data folder", (data) => chownSync(data, NOBODY, NOBODY)],
      ['lies in a data folder that others can write to', (data) => chmodSync(data, 0o770)],
      ['lies below a folder that others can rename', (data) => chmodSync(join(data, '..'), 0o777)],
    ])('is neither read nor written if the folder %s', async (_what, prepare) => {
      expect(await cachesAfter(prepare)).toMatchObject({ own: false, shared: 0 });
    });
  });
});
