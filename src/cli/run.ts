import { Argument, Command, CommanderError, InvalidArgumentError, Option } from 'commander';
import { RMA_EVENT_NAMES } from '../../contract/event-feed.ts';
import { email as emailField } from '../../contract/fields.ts';
import { readConfig, VERSION } from '../platform/config.ts';
import { explainStartFailure } from '../platform/start-failure.ts';
import { parseWebhookUrl, webhookUrlError } from '../webhooks/policy.ts';
import {
  addressOfService,
  command,
  IN_PROCESS_LIST,
  notice,
  parseHttpStatus,
  parserFor,
  parseWholeNumber,
  print,
  withContext,
} from './command.ts';
import { addShopCommands, runCommand } from './shop-commands.ts';

/** Runs the command line. The exit status is 0 for success, 1 for a failure and 2 for wrong usage. */
export const runCli = async (argv: string[]): Promise<void> => {
  try {
    await createProgram().parseAsync(argv);
  } catch (error) {
    if (error instanceof CommanderError) process.exitCode = error.exitCode === 0 ? 0 : 2;
    else {
      process.exitCode = 1;
      notice(explainStartFailure(error));
    }
  }
};

const createProgram = (): Command => {
  const handback = new Command('handback')
    .description('Offline repairs and trade returns over HTTP.')
    .version(VERSION)
    .exitOverride()
    .showHelpAfterError('(add --help for its options)');
  addServiceCommands(handback);
  addShopCommands(handback);
  addDeveloperCommands(handback);
  return handback;
};

/** Adds the commands of the service. Each loads its own code, so that a wrong command fails within 0.1 s. */
const addServiceCommands = (handback: Command): void => {
  handback
    .command('serve')
    .description('start the service; settings come from the environment')
    .action(startServer);
  command(handback, 'migrate', "bring the database's schema up to date").action(async ({ json }) => {
    await withContext(readConfig(process.env), async () => {}, { creates: true });
    print({ migrated: true }, json);
  });
  command(handback, 'demo', 'create a demo shop with sample data').action(({ json }) =>
    runCommand(json, async (ctx) => (await import('./demo.ts')).demo(ctx)),
  );
  command(handback, 'backup <file>', 'write everything into one signed file, while the service runs')
    .option('--overwrite', 'replace the file if it exists')
    .option(
      '--recipient <age1…>',
      'encrypt to this age key, or several separated by commas; defaults to BACKUP_RECIPIENT',
    )
    .action(async (file, options) => (await import('./backup.ts')).backUp(file, options));
  command(handback, 'restore <file>', 'fill an empty database of either engine from a backup')
    .option('--unsigned', 'accept a file without a signature; only if you know who wrote it')
    .option(
      '--unsigned-list',
      'accept a list for --erasures without a signature; only if you know who wrote it',
    )
    .option('--erasures <list>', 'repeat the erasures since the backup; customer erasures prints the list')
    .option('--confirm', 'also delete shops and accounts of the backup that the list for --erasures names')
    .option('--identity <file>', 'the age identity that decrypts the backup')
    .option(
      '--check',
      'restore into a temporary database, compare, and delete it: the database of the service is not used',
    )
    .action(async (file, options) => (await import('./backup.ts')).restore(file, options));
  command(
    handback,
    'status',
    'settings in force, queue, receivers, backups, keys and schema at a glance',
  ).action(async ({ json }) => (await import('./status.ts')).status(json));
  command(handback, 'doctor', 'check settings, database, keys and counters; exit 1 if one is wrong').action(
    async ({ json }) => (await import('./doctor.ts')).doctor(json),
  );
  const mail = handback.command('mail').description('the mail server in SMTP_URL');
  command(mail, 'test <address>', 'send one email now, and print whether the mail server accepted it').action(
    async (to, { json }) => (await import('./mail-test.ts')).mailTest(parserFor(emailField())(to), json),
  );
};

/** Starts the server. Only this command loads the web framework. */
const startServer = async (): Promise<void> => {
  const config = readConfig(process.env);
  const [main, { openContext }, { lockDatabase }, { freeLeases }, { reopenClaim }] = await Promise.all([
    import('../app/start.ts'),
    import('../app/context.ts'),
    import('../db/open.ts'),
    import('../webhooks/worker/leases.ts'),
    import('../backup/schedule.ts'),
  ]);
  const { exclusive } = lockDatabase(config);
  const ctx = await openContext(config);
  if (exclusive) await Promise.all([freeLeases(ctx), reopenClaim(ctx)]);
  await main.serve(ctx).catch(async (error) => {
    await ctx.close();
    notice(explainStartFailure(error));
    // The process exits explicitly, since a listening server would keep it alive without its database.
    process.exit(1);
  });
};

// --- commands for developers, which need no database (`events` uses one if it exists) ---

/** Checks a URL. Plain http is allowed, since the address is on this machine or belongs to the developer. */
const parseUrl = (value: string): string => {
  const problem = webhookUrlError(parseWebhookUrl(value), true);
  if (problem) throw new InvalidArgumentError(`It ${problem}.`);
  return value;
};

/** The options with a secret, and the variables that keep it out of the process list and the shell's history. */
const SECRET_VARIABLES = { key: 'HANDBACK_API_KEY', secret: 'HANDBACK_WEBHOOK_SECRET' };

const secretOption = (name: keyof typeof SECRET_VARIABLES, description: string): Option =>
  new Option(`--${name} <${name}>`, `${description}; ${IN_PROCESS_LIST}`).env(SECRET_VARIABLES[name]);

/** Checks a secret here, because an argument parser of commander would print the rejected value. */
const requireSecret = (command: Command, name: keyof typeof SECRET_VARIABLES, value?: string): string => {
  if (value !== undefined && /^[\x21-\x7e]+$/.test(value)) return value;
  const problem = value ? 'must be printable characters without spaces' : 'is needed';
  return command.error(
    `error: option '--${name}' (or ${SECRET_VARIABLES[name]} in the environment) ${problem}`,
  );
};

const addDeveloperCommands = (handback: Command): void => {
  handback
    .command('listen')
    .description('a webhook receiver for development: shows each delivery and checks its signature')
    .option('--port <port>', 'the port to listen on', parseWholeNumber, 4000)
    .addOption(secretOption('secret', "the client's webhook secret"))
    .option('--answer <status>', 'the status to respond with, for example 500', parseHttpStatus, 200)
    .option('--hang', 'never respond')
    .action(async (options) => (await import('./webhook-tools.ts')).listen(options));
  command(handback, 'trigger', 'send one signed sample event to a receiver')
    .addArgument(
      new Argument('<event>', 'the name of the event').choices([...RMA_EVENT_NAMES, 'webhook.test']),
    )
    .requiredOption('--to <url>', 'the receiver', parseUrl)
    .addOption(secretOption('secret', 'the secret with which the receiver verifies signatures'))
    .action(async (event, options, self) => {
      const secret = requireSecret(self, 'secret', options.secret);
      const { trigger } = await import('./webhook-tools.ts');
      await trigger(event, { ...options, secret });
    });
  handback
    .command('events')
    .description(
      "follow a shop's events; with --forward-to, send each one to a receiver without a public address. Prints the cursor to continue from when it ends",
    )
    .addOption(secretOption('key', 'the key of an API client'))
    .addOption(
      new Option(
        '--url <url>',
        'the address of the service; defaults to PUBLIC_URL, to the address of its last start if its data are here, or to HOST and PORT',
      )
        .env('HANDBACK_URL')
        .argParser(parseUrl),
    )
    .option('--after <cursor>', 'where to begin: a cursor, latest or oldest (the default)')
    .option(
      '--types <events>',
      'events separated by commas, or all; defaults to the nine of the specification',
    )
    .option('--forward-to <url>', 'send each event to this URL, signed like a webhook', parseUrl)
    .addOption(
      secretOption('secret', 'the secret with which the receiver of --forward-to verifies signatures'),
    )
    .option('--json', 'print each event as a line of JSON')
    // Excess arguments are rejected below without printing them, since one may be the key.
    .allowExcessArguments()
    .action(async ({ forwardTo, secret, url, after, types, json = false, ...options }, self) => {
      if (self.args.length > 0) self.error('error: too many arguments: the key goes after --key');
      const key = requireSecret(self, 'key', options.key);
      const forward = forwardTo && { to: forwardTo, secret: requireSecret(self, 'secret', secret) };
      const base = url ?? (await addressOfService(readConfig(process.env)));
      const { followEvents } = await import('./follow-events.ts');
      await followEvents({ key, url: base, after, types, forward, json });
    });
};
