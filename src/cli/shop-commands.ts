import { type Command, Option } from 'commander';
import { LONGEST_OVERLAP_DAYS } from '../../contract/admin.ts';
import { PLANS, SUBSCRIPTIONS, USER_ROLES } from '../../contract/admin-people.ts';
import { RIGHTS } from '../../contract/common.ts';
import { readConfig } from '../service/config.ts';
import type { Context } from '../service/context.ts';
import {
  type CommandResult,
  clientRights,
  collect,
  command,
  email,
  endOfDay,
  endOfDayOrNone,
  name,
  passwordFrom,
  personName,
  phone,
  print,
  reason,
  skuPattern,
  textOrNone,
  wholeNumber,
  wholeNumberOrNone,
  withContext,
  withNulls,
} from './command.ts';

type Commands = typeof import('./commands.ts') & typeof import('./customer-commands.ts');

/** The service's code is loaded here, so that a wrong command or setting is answered in 0.1 s and not in 0.4 s. */
export const once = async (
  json: boolean | undefined,
  work: (ctx: Context, commands: Commands) => Promise<CommandResult | undefined>,
): Promise<void> => {
  const config = readConfig(process.env);
  const loading = Promise.all([import('./commands.ts'), import('./customer-commands.ts')]);
  const [commands, customerCommands] = await loading;
  const result = await withContext(config, (ctx) => work(ctx, { ...commands, ...customerCommands }));
  if (result) print(result, json);
};

/** An action that calls the function of this name in commands.ts with the command's arguments and options. */
const calls =
  (name: keyof Commands) =>
  (...given: unknown[]): Promise<void> => {
    const { json, ...options } = given.at(-2) as { json?: boolean };
    return once(json, (ctx, commands) => {
      const run = commands[name] as (ctx: Context, ...given: unknown[]) => Promise<CommandResult>;
      return run(ctx, ...given.slice(0, -2), withNulls(options));
    });
  };

export const addShopCommands = (handback: Command): void => {
  addShop(handback.command('shop').description('shops, their plans and rules'));
  addUser(handback.command('user').description('people who sign in to the admin app'));
  addCustomer(handback.command('customer').description('personal data of customers'));
  addClient(handback.command('client').description('API clients: the programs of a shop'));
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
const DAY_MS = 24 * 60 * 60 * 1000;

const allowance = (take: typeof wholeNumberOrNone, form: string) =>
  new Option(`--allowance <${form}>`, 'RMAs a month; the shop is billed by allowance')
    .argParser(take)
    .conflicts('usageCap');

const usageCap = (take: typeof wholeNumberOrNone, form: string) =>
  new Option(`--usage-cap <${form}>`, 'RMAs a month; the shop is billed by use').argParser(take);

const addShop = (shop: Command): void => {
  command(shop, 'create', 'create a shop')
    .requiredOption('--name <name>', 'its name', name)
    .addOption(plan().default('SCALE'))
    .addOption(allowance(wholeNumber, 'n'))
    .addOption(usageCap(wholeNumber, 'n'))
    .action(calls('shopCreate'));
  command(shop, 'update <id>', "change a shop's plan, subscription or limits")
    .addOption(plan())
    .addOption(
      new Option('--subscription <state>', 'inactive makes the shop read-only').choices(SUBSCRIPTIONS),
    )
    .addOption(allowance(wholeNumberOrNone, 'n|none'))
    .addOption(usageCap(wholeNumberOrNone, 'n|none'))
    .action(calls('shopUpdate'));
  command(shop, 'list', 'all shops').action(calls('shopList'));
  command(shop, 'dangerous <id>', "show or change a shop's dangerous-goods rules")
    .option('--add <sku|prefix*>', 'a SKU, or a prefix that ends in *; repeatable', collect(skuPattern))
    .option('--remove <sku|prefix*>', 'a rule to remove; repeatable', collect(skuPattern))
    .action(calls('shopDangerous'));
  needsOneOf(
    command(shop, 'delete <id>', 'delete a shop and everything of it, for good')
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
      .requiredOption('--shop <id>', 'the shop')
      .option('--email <e-mail>', "the customer's, in upper or lower case", email)
      .addOption(
        new Option('--phone <phone>', "the customer's, compared by its digits")
          .argParser(phone)
          .conflicts('email'),
      ),
    '--email <e-mail>',
    '--phone <phone>',
  );

const addCustomer = (customer: Command): void => {
  ofCustomer(customer, 'find', "the returns that hold a customer's data").action(calls('customerFind'));
  ofCustomer(customer, 'export', "print all data of a customer's returns as JSON")
    .option('--output <file>', 'write a new file instead')
    .action(calls('customerExport'));
  ofCustomer(customer, 'erase', "erase a customer's data, for good")
    .requiredOption('--reason <text>', 'kept in the audit log: why, without the name of the customer', reason)
    .option('--include-open', 'also in returns that are open; webhooks about them that wait are dropped')
    .option('--dry-run', 'only name the returns')
    .option('--confirm', 'erase them')
    .action((options) => once(options.json, (ctx, { customerErase }) => customerErase(ctx, options)));
  command(customer, 'erasures', 'print the list of what was erased, which holds ids only')
    .option('--apply <file>', 'erase what such a list names, in a database that was restored without it')
    .action(calls('customerErasures'));
};

const newPerson = (parent: Command, spelling: string, description: string): Command =>
  command(parent, spelling, description)
    .requiredOption('--shop <id>', 'the shop they work for')
    .requiredOption('--email <e-mail>', 'what they sign in with', email)
    .option('--name <name>', 'how timelines name them', personName)
    .addOption(new Option('--role <role>', 'what they may do').choices(USER_ROLES).makeOptionMandatory());

const addUser = (user: Command): void => {
  newPerson(user, 'create', 'create a user')
    .option('--password <password>', 'asked for, or read from standard input, when absent')
    .action(async ({ json, ...options }) => {
      const password = await passwordFrom(options.password);
      await once(json, (ctx, { userCreate }) => userCreate(ctx, { ...options, password }));
    });
  newPerson(user, 'invite', 'create a user, and print a link to choose a password').action(
    calls('userInvite'),
  );
  command(user, 'link <e-mail>', 'print a new link to choose a password').action(calls('userLink'));
  command(user, 'reset-factor <e-mail>', "remove a user's second factor").action(calls('userResetFactor'));
};

const RIGHTS_HELP = `what it may do: some of ${RIGHTS.join()}, or read for none of them`;

const addClient = (client: Command): void => {
  command(client, 'create', 'create a client; its key and webhook secret are shown only now')
    .requiredOption('--shop <id>', 'the shop it belongs to')
    .requiredOption('--name <name>', 'its name', name)
    .option('--webhook-url <url>', 'where its events go')
    .option('--rights <rights>', RIGHTS_HELP, clientRights)
    .option('--expires <date>', 'the last day of its key, 2027-01-31 for example (UTC)', endOfDay)
    .action(calls('clientCreate'));
  command(client, 'update <id>', "change a client's name, webhook URL, rights or expiry")
    .option('--name <name>', 'its name', name)
    .option('--webhook-url <url|none>', 'where its events go', textOrNone)
    .option('--rights <rights>', RIGHTS_HELP, clientRights)
    .option('--expires <date|none>', 'the last day of its key (UTC)', endOfDayOrNone)
    .action(calls('clientUpdate'));
  command(client, 'revoke <id>', 'revoke a key for good').action(calls('clientRevoke'));
  command(client, 'replace <id>', 'revoke a client, and create one that receives its events instead')
    .option('--name <name>', "its name; the old client's when absent", name)
    .option('--webhook-url <url|none>', "where its events go; the old client's URL when absent", textOrNone)
    .option(
      '--old-key-until <date>',
      'the last day of the old key, at most 30 days ahead (UTC)',
      lastOverlappingDay,
    )
    .action(calls('clientReplace'));
  command(client, 'list', "a shop's clients")
    .requiredOption('--shop <id>', 'the shop')
    .action(calls('clientList'));
};
