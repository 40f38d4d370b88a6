import type { Command } from 'commander';
import { readConfig } from '../config.ts';
import { command, once } from './command.ts';

/** Commands about the service itself: start it, prepare its database, try it out. */
export const addServiceCommands = (handback: Command): void => {
  handback
    .command('serve')
    .description('start the service; settings come from the environment')
    .action(serve);
  command(handback, 'migrate', "bring the database's schema up to date").action(({ json }) =>
    once(json, async () => ({ migrated: true })),
  );
  command(handback, 'demo', 'make a filled demo shop').action(({ json }) =>
    once(json, async (ctx) => (await import('./demo.ts')).demo(ctx)),
  );
};

/** Only the server loads the web framework; the other commands start without it. */
const serve = async (): Promise<void> => {
  const config = readConfig(process.env);
  const [main, { openContext }, { claimDatabase }, { freeLeases }] = await Promise.all([
    import('../main.ts'),
    import('../context.ts'),
    import('../db/open.ts'),
    import('../webhooks/start.ts'),
  ]);
  const { isTheOnly } = claimDatabase(config);
  const ctx = await openContext(config);
  if (isTheOnly) await freeLeases(ctx);
  await main
    .serve(ctx, (line) => process.stderr.write(`${line}\n`))
    .catch(async (error) => {
      await ctx.close();
      throw error;
    });
};

export const addSecretsCommands = (handback: Command): void => {
  const secrets = handback.command('secrets').description('what is sealed with SECRET_KEY');
  command(secrets, 'reseal', 'encrypt all secrets again, with the first key of SECRET_KEY').action(
    ({ json }) => once(json, (ctx, { secretsReseal }) => secretsReseal(ctx)),
  );
};
