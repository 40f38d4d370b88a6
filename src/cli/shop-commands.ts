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
  parserFor,
  parseWholeNumber,
  print,
  withContext,
} from './command.ts';

type Commands = typeof import('./commands.ts');

/** Loads the code of the service only here, so that a wrong command or setting fails in 0.1 s instead of 0.4 s. */
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

/** Makes an action that calls a function of commands.ts with the command's arguments and options. */
const actionFor =
  (name: keyof Commands, options?: ContextOptions) =>
  (...given: unknown[]): Promise<void> => {
    const { json, ...flags } = given.at(-2) as { json?: boolean };
    const work = (ctx: Context, commands: Commands) => {
      const run = commands[name] as (ctx: Context, ...given: unknown[]) => Promise<CommandResult>;
      return run(ctx, ...given.slice(0, -2), restoreNulls(flags));
    };
    return runCommand(json, work, options);
  };

// --- the values that these commands take ---

/** Ids are not case-sensitive. */
const parseId = (value: string): string => value.toLowerCase();
const parseName = parserFor(text(LENGTH.name));
const parseEmail = parserFor(emailField());
const parseNewEmail = parserFor(newStaffEmail());
const parseSkuPattern = parserFor(text(LENGTH.reference));
const addSkuPattern = (value: string, before: string[] = []): string[] => [...before, parseSkuPattern(value)];

/** Both `none` and `read` mean that the client only reads. An empty text is rejected, since it is easily an accident. */
const parseRights = (value: string): Right[] => {
  const given = value === 'read' || value === 'none' ? [] : value.split(',').map((right) => right.trim());
  return parserFor(z.array(z.enum(RIGHTS, `must be none, or some of ${RIGHTS.join()}`)))(given);
};

const parseEndOfDay = (value: string): number =>
  Date.parse(parserFor(z.iso.date('must be a date such as 2027-01-31'))(value)) + DAY_MS;

/** Makes a parser that turns `none` into null, which removes the setting. */
const orNone =
  <Value>(parse: (value: string) => Value) =>
  (value: string): Value | null =>
    value === 'none' ? null : parse(value);

/** Restores the null for `none`, since commander turns a null into an empty text. */
const restoreNulls = (options: object): object =>
  Object.fromEntries(Object.entries(options).map(([name, value]) => [name, value === '' ? null : value]));

/** Asks for a password without echo on a terminal, or else reads the first line of standard input. */
const readPassword = async (): Promise<string> => {
  const { stdin, stderr } = process;
  if (stdin.isTTY) stderr.write('Password: ');
  const mutedOutput = new Writable({ write: (_chunk, _encoding, done) => done() });
  const lines = createInterface({ input: stdin, output: mutedOutput, terminal: stdin.isTTY });
  try {
    for await (const line of lines) return line;
    return '';
  } finally {
    // An open standard input, for example a terminal, would keep the process alive.
    lines.close();
    if (stdin.isTTY) stderr.write('\n');
  }
};

// --- the commands ---

const commandWithId = (parent: Command, verb: string, description: string): Command =>
  command(parent, verb, description).addArgument(new Argument('<id>').argParser(parseId));

export const addShopCommands = (handback: Command): void => {
  addShopGroup(handback.command('shop').description('shops, their plans and rules'));
  addUserGroup(handback.command('user').description('people who sign in to the admin app'));
  addCustomerGroup(handback.command('customer').description('personal data of customers'));
  addClientGroup(handback.command('client').description('API clients of a shop'));
  const secrets = handback.command('secrets').description('what is encrypted with SECRET_KEY');
  command(secrets, 'reseal', 'encrypt all secrets again, with the first key of SECRET_KEY').action(
    actionFor('secretsReseal'),
  );
};

const planOption = () => new Option('--plan <plan>', 'the plan that the shop has bought').choices(PLANS);

/** The end of the thirtieth day may be up to a day after the permitted time, which is then used instead. */
const parseOverlapEnd = (value: string): number => {
  const [end, latest] = [parseEndOfDay(value), Date.now() + LONGEST_OVERLAP_DAYS * DAY_MS];
  return end > latest && end - latest < DAY_MS ? latest : end;
};

const addLimitOptions = (command: Command, parse: (value: string) => number | null, form: string): Command =>
  command
    .addOption(
      new Option(`--allowance <${form}>`, 'RMAs per month; the shop is billed by allowance')
        .argParser(parse)
        .conflicts('usageCap'),
    )
    .option(`--usage-cap <${form}>`, 'RMAs per month; the shop is billed by usage', parse);

const addShopGroup = (shop: Command): void => {
  const creation = command(shop, 'create', 'create a shop')
    .requiredOption('--name <name>', 'its name', parseName)
    .addOption(planOption().default('SCALE'));
  addLimitOptions(creation, parseWholeNumber, 'n').action(actionFor('shopCreate', { mustBeSetUp: false }));
  const update = commandWithId(shop, 'update', "change a shop's plan, subscription or limits")
    .addOption(planOption())
    .addOption(
      new Option('--subscription <state>', 'inactive makes the shop read-only').choices(SUBSCRIPTIONS),
    );
  addLimitOptions(update, orNone(parseWholeNumber), 'n|none').action(actionFor('shopUpdate'));
  command(shop, 'list', 'list all shops').action(actionFor('shopList'));
  commandWithId(shop, 'dangerous', "show or change a shop's dangerous-goods rules")
    .option('--add <sku|prefix*>', 'a SKU, or a prefix that ends in *; repeatable', addSkuPattern)
    .option('--remove <sku|prefix*>', 'a rule to remove; repeatable', addSkuPattern)
    .action(actionFor('shopDangerous'));
  requireOneOf(
    commandWithId(shop, 'delete', 'permanently delete a shop and all of its data')
      .requiredOption('--confirm <name>', "the shop's name")
      .option('--export <file>', 'write all of its data into a new file first')
      .option('--no-export', 'delete without an export'),
    '--export <file>',
    '--no-export',
  )
    .hook('preAction', (self) => {
      const isBoth =
        process.argv.includes('--no-export') && process.argv.some((arg) => /^--export\b/.test(arg));
      if (isBoth) self.error("error: option '--export <file>' cannot be used with option '--no-export'");
    })
    .action(actionFor('shopDelete'));
};

const requireOneOf = (command: Command, one: string, other: string): Command =>
  command.hook('preAction', (self) => {
    const given = Object.keys(self.opts());
    const isGiven = [one, other].some((flags) => given.includes(flags.replace(/--(no-)?(\w+).*/, '$2')));
    if (!isGiven) self.error(`error: required option '${one}' or '${other}' not specified`);
  });

const customerCommand = (parent: Command, spelling: string, description: string): Command =>
  requireOneOf(
    command(parent, spelling, description)
      .requiredOption('--shop <id>', 'the shop', parseId)
      .option('--email <email>', "the customer's email, not case-sensitive", parseEmail)
      .addOption(
        new Option('--phone <phone>', "the customer's phone number, compared by its digits")
          .argParser(parserFor(phoneNumber))
          .conflicts('email'),
      ),
    '--email <email>',
    '--phone <phone>',
  );

const addCustomerGroup = (customer: Command): void => {
  customerCommand(customer, 'find', "list the returns with a customer's data").action(
    actionFor('customerFind'),
  );
  customerCommand(customer, 'export', "print all data of a customer's returns as JSON")
    .option('--output <file>', 'write into a new file instead')
    .action(actionFor('customerExport'));
  customerCommand(customer, 'erase', "permanently erase a customer's data")
    .requiredOption(
      '--reason <text>',
      'the reason for the audit log, without the name of the customer',
      parserFor(EraseCustomer.shape.reason),
    )
    .option('--include-open', 'also erase open returns; their waiting webhooks are dropped')
    .addOption(new Option('--dry-run', 'only list the returns').implies({ reason: 'dry run' }))
    .option('--confirm', 'erase them')
    .action((options) => runCommand(options.json, (ctx, { customerErase }) => customerErase(ctx, options)));
  command(customer, 'erasures', 'print the list of erasures, which contains only ids')
    .option('--apply <file>', 'apply such a list to a database that was restored without it')
    .option('--unsigned', 'accept a list without a signature; only if you know who wrote it')
    .option('--confirm', 'also delete existing shops and accounts that the list names')
    .action(actionFor('customerErasures'));
};

const personCommand = (parent: Command, spelling: string, description: string): Command =>
  command(parent, spelling, description)
    .requiredOption('--shop <id>', 'the shop they work for', parseId)
    .requiredOption('--email <email>', 'the email to sign in with', parseNewEmail)
    .option('--name <name>', 'the name in timelines', parserFor(PersonName))
    .addOption(new Option('--role <role>', 'the role of the user').choices(USER_ROLES).makeOptionMandatory());

const addUserGroup = (user: Command): void => {
  personCommand(user, 'create', 'create a user')
    .option('--password <password>', `asked for, or read from standard input, if absent; ${IN_PROCESS_LIST}`)
    .action(async ({ json, ...options }) => {
      const password = options.password ?? (await readPassword());
      const { error } = NewPassword.safeParse(password);
      if (error) throw new CliFailure(`the password ${error.issues[0]?.message}`);
      await runCommand(json, (ctx, { userCreate }) => userCreate(ctx, { ...options, password }));
    });
  personCommand(user, 'invite', 'create a user, and print a link to choose a password').action(
    actionFor('userInvite'),
  );
  command(user, 'link <email>', 'print a new link to choose a password').action(actionFor('userLink'));
  command(user, 'unlink-provider <email>', "remove a user's link to the identity provider").action(
    actionFor('userUnlinkProvider'),
  );
  command(user, 'reset-factor <email>', "remove a user's second factor").action(actionFor('userResetFactor'));
};

const RIGHTS_HELP = `its rights: some of ${RIGHTS.join()}, or none for a client that only reads`;

const addClientGroup = (client: Command): void => {
  command(client, 'create', 'create a client; its key and webhook secret are shown only now')
    .requiredOption('--shop <id>', 'the shop it belongs to', parseId)
    .requiredOption('--name <name>', 'its name', parseName)
    .option('--webhook-url <url>', 'the URL that its events are sent to')
    .option('--rights <rights>', RIGHTS_HELP, parseRights)
    .option('--expires <date>', 'the last day of its key, for example 2027-01-31 (UTC)', parseEndOfDay)
    .action(actionFor('clientCreate'));
  commandWithId(client, 'update', "change a client's name, webhook URL, rights or expiry")
    .option('--name <name>', 'its name', parseName)
    .option('--webhook-url <url|none>', 'the URL that its events are sent to', orNone(String))
    .option('--rights <rights>', RIGHTS_HELP, parseRights)
    .option('--expires <date|none>', 'the last day of its key (UTC)', orNone(parseEndOfDay))
    .action(actionFor('clientUpdate'));
  commandWithId(client, 'revoke', 'permanently revoke a client and its key').action(
    actionFor('clientRevoke'),
  );
  commandWithId(client, 'replace', 'revoke a client, and create one that receives its events instead')
    .option('--name <name>', "its name; defaults to the old client's name", parseName)
    .option(
      '--webhook-url <url|none>',
      "the URL that its events are sent to; defaults to the old client's URL",
      orNone(String),
    )
    .option(
      '--old-key-until <date>',
      'the last day of the old key, at most 30 days ahead (UTC)',
      parseOverlapEnd,
    )
    .action(actionFor('clientReplace'));
  command(client, 'list', "list a shop's clients")
    .requiredOption('--shop <id>', 'the shop', parseId)
    .action(actionFor('clientList'));
};
