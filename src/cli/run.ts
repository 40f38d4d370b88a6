import { Argument, Command, CommanderError, InvalidArgumentError, Option } from 'commander';
import { RMA_EVENT_NAMES } from '../../contract/event-feed.ts';
import { email as emailField } from '../../contract/fields.ts';
import { readConfig, VERSION } from '../platform/config.ts';
import { explainStartFailure } from '../platform/start-failure.ts';
import { parseWebhookUrl, webhookUrlError } from '../webhooks/policy.ts';
import {
  addressOfService,
  command,
  httpStatus,
  IN_PROCESS_LIST,
  notice,
  parsedBy,
  print,
  wholeNumber,
  withContext,
} from './command.ts';
import { addShopCommands, runCommand } from './shop-commands.ts';

/** Exit statuses: 0 done, 1 failed, 2 not understood. */
export const run = async (argv: string[]): Promise<void> => {
  try {
    await program().parseAsync(argv);
  } catch (error) {
    if (error instanceof CommanderError) process.exitCode = error.exitCode === 0 ? 0 : 2;
    else {
      process.exitCode = 1;
      notice(explainStartFailure(error));
    }
  }
};

const program = (): Command => {
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

/** Each loads its own code, so that a wrong command is answered in 0.1 s. */
const addServiceCommands = (handback: Command): void => {
  handback
    .command('serve')
    .description('start the service; settings come from the environment')
    .action(serve);
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
      'encrypt it to this age key, or several separated by commas; BACKUP_RECIPIENT when absent',
    )
    .action(async (file, options) => (await import('./backup.ts')).backUp(file, options));
  command(handback, 'restore <file>', 'fill an empty database of either engine from a backup')
    .option('--unsigned', 'also a file without a signature: only if you know who wrote it')
    .option('--unsigned-list', 'also a list of --erasures without a signature: only if you know who wrote it')
    .option('--erasures <list>', 'erase again what was erased since the backup: customer erasures prints it')
    .option('--confirm', 'also delete the shops and accounts of the backup that the list of --erasures names')
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
  command(mail, 'test <address>', 'send one mail now, and say whether the mail server took it').action(
    async (to, { json }) => (await import('./mail-test.ts')).mailTest(parsedBy(emailField())(to), json),
  );
};

/** Only the server loads the web framework; the other commands start without it. */
const serve = async (): Promise<void> => {
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
    // It may listen already, which would keep the process alive without its database.
    process.exit(1);
  });
};

// --- for developers of receivers and of programs that follow the events; none of these needs a database, though events asks one that is there ---

/** Plain http is fine: it is this machine's, or the developer's own. */
const webAddress = (value: string): string => {
  const problem = webhookUrlError(parseWebhookUrl(value), true);
  if (problem) throw new InvalidArgumentError(`It ${problem}.`);
  return value;
};

/** Options that hold a secret, and the variable that keeps it out of the process list and the shell's history. */
const SECRETS = { key: 'HANDBACK_API_KEY', secret: 'HANDBACK_WEBHOOK_SECRET' };

const secretOption = (name: keyof typeof SECRETS, description: string): Option =>
  new Option(`--${name} <${name}>`, `${description}; ${IN_PROCESS_LIST}`).env(SECRETS[name]);

/** Not an argument parser of commander's, which would print the value that it refuses. */
const usableSecret = (command: Command, name: keyof typeof SECRETS, value?: string): string => {
  if (value !== undefined && /^[\x21-\x7e]+$/.test(value)) return value;
  const problem = value ? 'must be printable characters without spaces' : 'is needed';
  return command.error(`error: option '--${name}' (or ${SECRETS[name]} in the environment) ${problem}`);
};

const addDeveloperCommands = (handback: Command): void => {
  handback
    .command('listen')
    .description('a webhook receiver for development: shows each delivery and checks its signature')
    .option('--port <port>', 'where to listen', wholeNumber, 4000)
    .addOption(secretOption('secret', "the client's webhook secret"))
    .option('--answer <status>', 'the status to answer with, 500 for example', httpStatus, 200)
    .option('--hang', 'never answer')
    .action(async (options) => (await import('./webhook-tools.ts')).listen(options));
  command(handback, 'trigger', 'send one signed sample event to a receiver')
    .addArgument(new Argument('<event>', 'what happened').choices([...RMA_EVENT_NAMES, 'webhook.test']))
    .requiredOption('--to <url>', 'the receiver', webAddress)
    .addOption(secretOption('secret', 'what the receiver checks signatures with'))
    .action(async (event, options, self) => {
      const secret = usableSecret(self, 'secret', options.secret);
      const { trigger } = await import('./webhook-tools.ts');
      await trigger(event, { ...options, secret });
    });
  handback
    .command('events')
    .description(
      "follow a shop's events; with --forward-to, send each one to a receiver that has no public address. Prints at its end the cursor to go on from",
    )
    .addOption(secretOption('key', 'the key of an API client'))
    .addOption(
      new Option(
        '--url <url>',
        'the address of the service; when absent PUBLIC_URL, or where the service last started if its data are here, or HOST and PORT',
      )
        .env('HANDBACK_URL')
        .argParser(webAddress),
    )
    .option('--after <cursor>', 'where to begin: a cursor, latest or oldest (the default)')
    .option(
      '--types <events>',
      'which events, separated by commas, or all; the nine of the specification when absent',
    )
    .option('--forward-to <url>', 'send each event there, signed as a webhook is', webAddress)
    .addOption(secretOption('secret', 'what the receiver of --forward-to checks signatures with'))
    .option('--json', 'print each event as a line of JSON')
    // Refused below, without being printed: it may be the key.
    .allowExcessArguments()
    .action(async ({ forwardTo, secret, url, after, types, json = false, ...options }, self) => {
      if (self.args.length > 0) self.error('error: too many arguments: the key goes after --key');
      const key = usableSecret(self, 'key', options.key);
      const forward = forwardTo && { to: forwardTo, secret: usableSecret(self, 'secret', secret) };
      const base = url ?? (await addressOfService(readConfig(process.env)));
      const { followEvents } = await import('./follow-events.ts');
      await followEvents({ key, url: base, after, types, forward, json });
    });
};
