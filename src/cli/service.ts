import { type Command, Option } from 'commander';
import { readConfig } from '../config.ts';
import { httpStatus, wholeNumber } from './arguments.ts';
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
  handback
    .command('listen')
    .description('a webhook receiver for development: shows each delivery and checks its signature')
    .addOption(new Option('--port <port>', 'where to listen').argParser(wholeNumber).default(4000))
    .option('--secret <secret>', "the client's webhook secret")
    .addOption(
      new Option('--answer <status>', 'the status to answer with, 500 for example')
        .argParser(httpStatus)
        .default(200),
    )
    .option('--hang', 'never answer')
    .action(async (options) => {
      const { listen } = await import('./listen.ts');
      await listen(options, (line) => process.stdout.write(`${line}\n`));
    });
};

/** Only the server loads the web framework; the other commands start without it. */
const serve = async (): Promise<void> => {
  const config = readConfig(process.env);
  const [main, { openContext }, { claimDatabase }] = await Promise.all([
    import('../main.ts'),
    import('../context.ts'),
    import('../db/open.ts'),
  ]);
  claimDatabase(config);
  const ctx = await openContext(config);
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
