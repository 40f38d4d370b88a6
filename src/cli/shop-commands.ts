import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import { Argument, type Command, Option } from 'commander';
import { z } from 'zod';
import { LONGEST_OVERLAP_DAYS } from '../../contract/admin.ts';
import { PLANS, SUBSCRIPTIONS, USER_ROLES } from '../../contract/admin-people.ts';
import { RIGHTS, type Right } from '../../contract/common.ts';
import { email as emailField, LENGTH, text } from '../../contract/fields.ts';
import { NewPassword, newStaffEmail, PersonName } from '../../contract/person-fields.ts';
import { EraseCustomer, phoneNumber } from '../../contract/personal-data.ts';
import type { Context } from '../api/context.ts';
import { DAY_MS } from '../lib/time.ts';
import { readConfig } from '../platform/config.ts';
import { CliFailure } from '../platform/start-failure.ts';
import {
  type CommandResult,
  type ContextOptions,
  command,
  IN_PROCESS_LIST,
  parsedBy,
  print,
  wholeNumber,
  withContext,
} from './command.ts';

type Commands = typeof import('./commands.ts');

/** The service's code is loaded here, so that a wrong command or setting is answered in 0.1 s and not in 0.4 s. */
export const runCommand = async (
  json: boolean | undefined,
  work: (ctx: Context, commands: Commands) => Promise<CommandResult | undefined>,
  options?: ContextOptions,
): Promise<void> => {
  const config = readConfig(process.env);
  const commands = await import('./commands.ts');
  const result = await withContext(config, (ctx) => work(ctx, commands), options);
  if (result) print(result, json);
};

/** An action that calls the function of this name in commands.ts with the command's arguments and options. */
const calls =
  (name: keyof Commands, options?: ContextOptions) =>
  (...given: unknown[]): Promise<void> => {
    const { json, ...flags } = given.at(-2) as { json?: boolean };
    const work = (ctx: Context, commands: Commands) => {
      const run = commands[name] as (ctx: Context, ...given: unknown[]) => Promise<CommandResult>;
      return run(ctx, ...given.slice(0, -2), withNulls(flags));
    };
    return runCommand(json, work, options);
  };

// --- the values that these commands take ---

/** Ids compare without case. */
const id = (value: string): string => value.toLowerCase();
const name = parsedBy(text(LENGTH.name));
const email = parsedBy(emailField());
const newEmail = parsedBy(newStaffEmail());
const skuPattern = parsedBy(text(LENGTH.reference));
const skuPatterns = (value: string, before: string[] = []): string[] => [...before, skuPattern(value)];

/** `none` and `read` mean the same: such a client only reads. An empty text is easily an accident. */
const clientRights = (value: string): Right[] => {
  const given = value === 'read' || value === 'none' ? [] : value.split(',').map((right) => right.trim());
  return parsedBy(z.array(z.enum(RIGHTS, `must be none, or some of ${RIGHTS.join()}`)))(given);
};

const endOfDay = (value: string): number =>
  Date.parse(parsedBy(z.iso.date('must be a day, 2027-01-31 for example'))(value)) + DAY_MS;

/** `none` removes what is set. */
const orNone =
  <Value>(take: (value: string) => Value) =>
  (value: string): Value | null =>
    value === 'none' ? null : take(value);

/** What was given as `none` is null again: commander turns a null into an empty text. */
const withNulls = (options: object): object =>
  Object.fromEntries(Object.entries(options).map(([name, value]) => [name, value === '' ? null : value]));

/** Asked for unseen at a terminal, else the first line of standard input. */
const readPassword = async (): Promise<string> => {
  const { stdin, stderr } = process;
  if (stdin.isTTY) stderr.write('Password: ');
  const unseen = new Writable({ write: (_chunk, _encoding, done) => done() });
  const lines = createInterface({ input: stdin, output: unseen, terminal: stdin.isTTY });
  try {
    for await (const line of lines) return line;
    return '';
  } finally {
    // Otherwise an open standard input, a terminal for example, would keep the process alive.
    lines.close();
    if (stdin.isTTY) stderr.write('\n');
  }
};

// --- the commands ---

const ofOne = (parent: Command, verb: string, description: string): Command =>
  command(parent, verb, description).addArgument(new Argument('<id>').argParser(id));

export const addShopCommands = (handback: Command): void => {
  addShop(handback.command('shop').description('shops, their plans and rules'));
  addUser(handback.command('user').description('people who sign in to the admin app'));
  addCustomer(handback.command('customer').description('personal data of customers'));
  addClient(handback.command('client').description('API clients of a shop'));
  const secrets = handback.command('secrets').description('what is encrypted with SECRET_KEY');
  command(secrets, 'reseal', 'encrypt all secrets again, with the first key of SECRET_KEY').action(
    calls('secretsReseal'),
  );
};

const plan = () => new Option('--plan <plan>', 'what the shop has bought').choices(PLANS);

/** The end of the thirtieth day lies up to a day beyond the longest time that is allowed. */
const lastOverlappingDay = (value: string): number => {
  const [end, latest] = [endOfDay(value), Date.now() + LONGEST_OVERLAP_DAYS * DAY_MS];
  return end > latest && end - latest < DAY_MS ? latest : end;
};

const withLimits = (of: Command, take: (value: string) => number | null, form: string): Command =>
  of
    .addOption(
      new Option(`--allowance <${form}>`, 'RMAs a month; the shop is billed by allowance')
        .argParser(take)
        .conflicts('usageCap'),
    )
    .option(`--usage-cap <${form}>`, 'RMAs a month; the shop is billed by use', take);

const addShop = (shop: Command): void => {
  const creation = command(shop, 'create', 'create a shop')
    .requiredOption('--name <name>', 'its name', name)
    .addOption(plan().default('SCALE'));
  withLimits(creation, wholeNumber, 'n').action(calls('shopCreate', { mustBeSetUp: false }));
  const update = ofOne(shop, 'update', "change a shop's plan, subscription or limits")
    .addOption(plan())
    .addOption(
      new Option('--subscription <state>', 'inactive makes the shop read-only').choices(SUBSCRIPTIONS),
    );
  withLimits(update, orNone(wholeNumber), 'n|none').action(calls('shopUpdate'));
  command(shop, 'list', 'all shops').action(calls('shopList'));
  ofOne(shop, 'dangerous', "show or change a shop's dangerous-goods rules")
    .option('--add <sku|prefix*>', 'a SKU, or a prefix that ends in *; repeatable', skuPatterns)
    .option('--remove <sku|prefix*>', 'a rule to remove; repeatable', skuPatterns)
    .action(calls('shopDangerous'));
  needsOneOf(
    ofOne(shop, 'delete', 'delete a shop and everything of it, for good')
      .requiredOption('--confirm <name>', 'its name')
      .option('--export <file>', 'write all of it into a new file first')
      .option('--no-export', 'keep nothing'),
    '--export <file>',
    '--no-export',
  )
    .hook('preAction', (self) => {
      const isBoth =
        process.argv.includes('--no-export') && process.argv.some((arg) => /^--export\b/.test(arg));
      if (isBoth) self.error("error: option '--export <file>' cannot be used with option '--no-export'");
    })
    .action(calls('shopDelete'));
};

const needsOneOf = (of: Command, one: string, other: string): Command =>
  of.hook('preAction', (self) => {
    const given = Object.keys(self.opts());
    const isGiven = [one, other].some((flags) => given.includes(flags.replace(/--(no-)?(\w+).*/, '$2')));
    if (!isGiven) self.error(`error: required option '${one}' or '${other}' not specified`);
  });

const ofCustomer = (parent: Command, spelling: string, description: string): Command =>
  needsOneOf(
    command(parent, spelling, description)
      .requiredOption('--shop <id>', 'the shop', id)
      .option('--email <email>', "the customer's, in upper or lower case", email)
      .addOption(
        new Option('--phone <phone>', "the customer's, compared by its digits")
          .argParser(parsedBy(phoneNumber))
          .conflicts('email'),
      ),
    '--email <email>',
    '--phone <phone>',
  );

const addCustomer = (customer: Command): void => {
  ofCustomer(customer, 'find', "the returns that hold a customer's data").action(calls('customerFind'));
  ofCustomer(customer, 'export', "print all data of a customer's returns as JSON")
    .option('--output <file>', 'write a new file instead')
    .action(calls('customerExport'));
  ofCustomer(customer, 'erase', "erase a customer's data, for good")
    .requiredOption(
      '--reason <text>',
      'kept in the audit log: why, without the name of the customer',
      parsedBy(EraseCustomer.shape.reason),
    )
    .option('--include-open', 'also in returns that are open; webhooks about them that wait are dropped')
    .addOption(new Option('--dry-run', 'only name the returns').implies({ reason: 'dry run' }))
    .option('--confirm', 'erase them')
    .action((options) => runCommand(options.json, (ctx, { customerErase }) => customerErase(ctx, options)));
  command(customer, 'erasures', 'print the list of what was erased, which holds ids only')
    .option('--apply <file>', 'erase what such a list names, in a database that was restored without it')
    .option('--unsigned', 'also a list without a signature: only if you know who wrote it')
    .option('--confirm', 'also delete the shops and accounts that it names and that are here')
    .action(calls('customerErasures'));
};

const newPerson = (parent: Command, spelling: string, description: string): Command =>
  command(parent, spelling, description)
    .requiredOption('--shop <id>', 'the shop they work for', id)
    .requiredOption('--email <email>', 'what they sign in with', newEmail)
    .option('--name <name>', 'how timelines name them', parsedBy(PersonName))
    .addOption(new Option('--role <role>', 'what they may do').choices(USER_ROLES).makeOptionMandatory());

const addUser = (user: Command): void => {
  newPerson(user, 'create', 'create a user')
    .option(
      '--password <password>',
      `asked for, or read from standard input, when absent; ${IN_PROCESS_LIST}`,
    )
    .action(async ({ json, ...options }) => {
      const password = options.password ?? (await readPassword());
      const { error } = NewPassword.safeParse(password);
      if (error) throw new CliFailure(`the password ${error.issues[0]?.message}`);
      await runCommand(json, (ctx, { userCreate }) => userCreate(ctx, { ...options, password }));
    });
  newPerson(user, 'invite', 'create a user, and print a link to choose a password').action(
    calls('userInvite'),
  );
  command(user, 'link <email>', 'print a new link to choose a password').action(calls('userLink'));
  command(user, 'unlink-provider <email>', 'forget who a user is at the identity provider').action(
    calls('userUnlinkProvider'),
  );
  command(user, 'reset-factor <email>', "remove a user's second factor").action(calls('userResetFactor'));
};

const RIGHTS_HELP = `what it may do: some of ${RIGHTS.join()}, or none for a client that only reads`;

const addClient = (client: Command): void => {
  command(client, 'create', 'create a client; its key and webhook secret are shown only now')
    .requiredOption('--shop <id>', 'the shop it belongs to', id)
    .requiredOption('--name <name>', 'its name', name)
    .option('--webhook-url <url>', 'where its events go')
    .option('--rights <rights>', RIGHTS_HELP, clientRights)
    .option('--expires <date>', 'the last day of its key, 2027-01-31 for example (UTC)', endOfDay)
    .action(calls('clientCreate'));
  ofOne(client, 'update', "change a client's name, webhook URL, rights or expiry")
    .option('--name <name>', 'its name', name)
    .option('--webhook-url <url|none>', 'where its events go', orNone(String))
    .option('--rights <rights>', RIGHTS_HELP, clientRights)
    .option('--expires <date|none>', 'the last day of its key (UTC)', orNone(endOfDay))
    .action(calls('clientUpdate'));
  ofOne(client, 'revoke', 'revoke a key for good').action(calls('clientRevoke'));
  ofOne(client, 'replace', 'revoke a client, and create one that receives its events instead')
    .option('--name <name>', "its name; the old client's when absent", name)
    .option(
      '--webhook-url <url|none>',
      "where its events go; the old client's URL when absent",
      orNone(String),
    )
    .option(
      '--old-key-until <date>',
      'the last day of the old key, at most 30 days ahead (UTC)',
      lastOverlappingDay,
    )
    .action(calls('clientReplace'));
  command(client, 'list', "a shop's clients")
    .requiredOption('--shop <id>', 'the shop', id)
    .action(calls('clientList'));
};
