import { Command, CommanderError, Option } from 'commander';
import { pino } from 'pino';
import { PLANS, SUBSCRIPTIONS, USER_ROLES } from '../contract/admin-people.ts';
import {
  collect,
  email,
  httpStatus,
  name,
  passwordFrom,
  skuPattern,
  textOrNone,
  wholeNumber,
  wholeNumberOrNone,
  withNulls,
} from './cli/arguments.ts';
import * as commands from './cli/commands.ts';
import { demo } from './cli/demo.ts';
import { listen } from './cli/listen.ts';
import { CliFailure, print } from './cli/output.ts';
import { ConfigError, readConfig } from './config.ts';
import { type Context, openContext } from './context.ts';
import { claimDatabase } from './db/open.ts';
import { explainStartFailure } from './start-failure.ts';
import { VERSION } from './version.ts';

/** Exit statuses: 0 done, 1 could not be done, 2 not understood. */
export const run = async (argv: string[]): Promise<void> => {
  try {
    await program().parseAsync(argv);
  } catch (error) {
    if (error instanceof CommanderError) process.exitCode = error.exitCode === 0 ? 0 : 2;
    else {
      process.exitCode = 1;
      process.stderr.write(
        `handback: ${error instanceof CliFailure || error instanceof ConfigError ? error.message : explainStartFailure(error)}\n`,
      );
    }
  }
};

type Result = Parameters<typeof print>[0];

/** Runs one command on an open context, prints what it gives, and closes: no server is needed, none is disturbed. */
const once = async (json: boolean | undefined, work: (ctx: Context) => Promise<Result>): Promise<void> => {
  const ctx = await openContext(readConfig(process.env), { log: pino({ level: 'silent' }) });
  try {
    print(await work(ctx), json);
  } finally {
    await ctx.close();
  }
};

const program = (): Command => {
  const handback = new Command('handback')
    .description('Offline repairs and trade returns over HTTP.')
    .version(VERSION)
    .exitOverride()
    .showHelpAfterError('(add --help for what it takes)');

  handback
    .command('serve')
    .description('start the service; settings come from the environment')
    .action(async () => {
      // Only here: the other commands start in half the time without the web server.
      const { serve } = await import('./main.ts');
      const config = readConfig(process.env);
      claimDatabase(config);
      const ctx = await openContext(config);
      await serve(ctx, (line) => process.stderr.write(`${line}\n`)).catch(async (error) => {
        await ctx.close();
        throw error;
      });
    });

  const command = (parent: Command, spelling: string, description: string): Command =>
    parent.command(spelling).description(description).option('--json', 'print one line of JSON');
  const plan = () => new Option('--plan <plan>', 'what the shop has bought').choices(PLANS);
  const allowance = (take: typeof wholeNumberOrNone, form: string) =>
    new Option(`--allowance <${form}>`, 'RMAs a month; the shop is billed by allowance')
      .argParser(take)
      .conflicts('usageCap');
  const usageCap = (take: typeof wholeNumberOrNone, form: string) =>
    new Option(`--usage-cap <${form}>`, 'RMAs a month; the shop is billed by use').argParser(take);

  command(handback, 'migrate', "bring the database's schema up to date").action((options) =>
    once(options.json, async () => ({ migrated: true })),
  );
  command(handback, 'demo', 'make a filled demo shop').action((options) => once(options.json, demo));

  const shop = handback.command('shop').description('shops, their plans and rules');
  command(shop, 'create', 'make a shop')
    .requiredOption('--name <name>', 'its name', name)
    .addOption(plan().default('SCALE'))
    .addOption(allowance(wholeNumber, 'n'))
    .addOption(usageCap(wholeNumber, 'n'))
    .action(({ json, ...options }) => once(json, (ctx) => commands.shopCreate(ctx, options)));
  command(shop, 'update <id>', "change a shop's plan, subscription or figures")
    .addOption(plan())
    .addOption(
      new Option('--subscription <state>', 'inactive makes the shop read-only').choices(SUBSCRIPTIONS),
    )
    .addOption(allowance(wholeNumberOrNone, 'n|none'))
    .addOption(usageCap(wholeNumberOrNone, 'n|none'))
    .action((id, { json, ...options }) =>
      once(json, (ctx) => commands.shopUpdate(ctx, id, withNulls(options))),
    );
  command(shop, 'list', 'all shops').action(({ json }) => once(json, commands.shopList));
  command(shop, 'dangerous <id>', "read or change a shop's dangerous-goods rules")
    .option('--add <sku|prefix*>', 'a sku, or a prefix that ends in *; repeatable', collect(skuPattern))
    .option('--remove <sku|prefix*>', 'a rule to take away; repeatable', collect(skuPattern))
    .action((id, { json, ...options }) => once(json, (ctx) => commands.shopDangerous(ctx, id, options)));

  const user = handback.command('user').description('people who sign in to the admin app');
  command(user, 'create', 'make a user')
    .requiredOption('--shop <id>', 'the shop they work for')
    .requiredOption('--email <e-mail>', 'what they sign in with', email)
    .addOption(new Option('--role <role>', 'what they may do').choices(USER_ROLES).makeOptionMandatory())
    .option('--password <password>', 'asked for, or read from standard input, when absent')
    .action(async ({ json, ...options }) => {
      const password = await passwordFrom(options.password);
      await once(json, (ctx) => commands.userCreate(ctx, { ...options, password }));
    });

  const client = handback.command('client').description('API clients: the programs of a shop');
  command(client, 'create', 'make a client; its key and webhook secret are shown this once')
    .requiredOption('--shop <id>', 'the shop it belongs to')
    .requiredOption('--name <name>', 'its name', name)
    .option('--webhook-url <url>', 'where its events go')
    .action(({ json, ...options }) => once(json, (ctx) => commands.clientCreate(ctx, options)));
  command(client, 'update <id>', "change a client's name or webhook URL")
    .option('--name <name>', 'its name', name)
    .option('--webhook-url <url|none>', 'where its events go', textOrNone)
    .action((id, { json, ...options }) =>
      once(json, (ctx) => commands.clientUpdate(ctx, id, withNulls(options))),
    );
  command(client, 'revoke <id>', 'stop a key for good').action((id, { json }) =>
    once(json, (ctx) => commands.clientRevoke(ctx, id)),
  );
  command(client, 'list', "a shop's clients")
    .requiredOption('--shop <id>', 'the shop')
    .action(({ json, ...options }) => once(json, (ctx) => commands.clientList(ctx, options)));

  const secrets = handback.command('secrets').description('what is sealed with SECRET_KEY');
  command(secrets, 'reseal', 'seal everything anew with the first key of SECRET_KEY').action(({ json }) =>
    once(json, commands.secretsReseal),
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
      await listen(options, (line) => process.stdout.write(`${line}\n`));
    });

  return handback;
};
