import { Command, CommanderError } from 'commander';
import { ConfigError, readConfig, VERSION } from '../service/config.ts';
import { CliFailure, command } from './command.ts';
import { addEventCommands } from './event-commands.ts';
import { addShopCommands, once } from './shop-commands.ts';

/** Exit statuses: 0 done, 1 failed, 2 not understood. */
export const run = async (argv: string[]): Promise<void> => {
  try {
    await program().parseAsync(argv);
  } catch (error) {
    if (error instanceof CommanderError) process.exitCode = error.exitCode === 0 ? 0 : 2;
    else {
      process.exitCode = 1;
      process.stderr.write(`handback: ${await explain(error)}\n`);
    }
  }
};

const explain = async (error: unknown): Promise<string> =>
  error instanceof CliFailure || error instanceof ConfigError
    ? error.message
    : (await import('../service/start-failure.ts')).explainStartFailure(error);

const program = (): Command => {
  const handback = new Command('handback')
    .description('Offline repairs and trade returns over HTTP.')
    .version(VERSION)
    .exitOverride()
    .showHelpAfterError('(add --help for its options)');
  addServiceCommands(handback);
  addShopCommands(handback);
  addDatabaseCommands(handback);
  addEventCommands(handback);
  return handback;
};

const addServiceCommands = (handback: Command): void => {
  handback
    .command('serve')
    .description('start the service; settings come from the environment')
    .action(serve);
  command(handback, 'migrate', "bring the database's schema up to date").action(({ json }) =>
    once(json, async () => ({ migrated: true })),
  );
  command(handback, 'demo', 'create a demo shop with sample data').action(({ json }) =>
    once(json, async (ctx) => (await import('./demo.ts')).demo(ctx)),
  );
};

/** Each loads its own code, so that a wrong command is answered in 0.1 s. */
const addDatabaseCommands = (handback: Command): void => {
  command(handback, 'backup <file>', 'write everything into one signed file, while the service runs')
    .option('--overwrite', 'replace the file if it exists')
    .action(async (file, options) => (await import('./backup.ts')).backUp(file, options));
  command(handback, 'restore <file>', 'fill an empty database of either engine from a backup')
    .option('--unsigned', 'also a file without a signature: only if you know who wrote it')
    .action(async (file, options) => (await import('./backup.ts')).restore(file, options));
  command(handback, 'doctor', 'check settings, database, keys and counters; exit 1 if one is wrong').action(
    async ({ json }) => (await import('./doctor.ts')).doctor(json),
  );
};

/** Only the server loads the web framework; the other commands start without it. */
const serve = async (): Promise<void> => {
  const config = readConfig(process.env);
  const [main, { openContext }, { lockDatabase }, { freeLeases }] = await Promise.all([
    import('../service/start.ts'),
    import('../service/context.ts'),
    import('../db/open.ts'),
    import('../webhooks/worker/leases.ts'),
  ]);
  const { exclusive } = lockDatabase(config);
  const ctx = await openContext(config);
  if (exclusive) await freeLeases(ctx);
  await main
    .serve(ctx, (line) => process.stderr.write(`${line}\n`))
    .catch(async (error) => {
      await ctx.close();
      throw error;
    });
};
