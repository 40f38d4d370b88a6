import { type Command, Option } from 'commander';
import { PLANS, SUBSCRIPTIONS, USER_ROLES } from '../../contract/admin-people.ts';
import { readConfig } from '../config.ts';
import type { Context } from '../context.ts';
import {
  collect,
  email,
  name,
  passwordFrom,
  personName,
  skuPattern,
  textOrNone,
  wholeNumber,
  wholeNumberOrNone,
  withNulls,
} from './arguments.ts';
import { command, print, type Result } from './command.ts';

type Commands = typeof import('./commands.ts');

/**
 * Runs one command on an open context, prints its result, and closes: no server is needed, none is disturbed. The service's code
 * is loaded here, so that a wrong command or setting is answered in 0.1 s and not in 0.4 s.
 */
export const once = async (
  json: boolean | undefined,
  work: (ctx: Context, commands: Commands) => Promise<Result>,
): Promise<void> => {
  const config = readConfig(process.env);
  const [{ openContext }, commands, { pino }] = await Promise.all([
    import('../context.ts'),
    import('./commands.ts'),
    import('pino'),
  ]);
  const ctx = await openContext(config, {
    log: pino({ level: 'silent' }),
    onWait: () => process.stderr.write('handback: waiting for the database (DATABASE_URL)\n'),
  });
  try {
    print(await work(ctx, commands), json);
  } finally {
    await ctx.close();
  }
};

export const addShopCommands = (handback: Command): void => {
  addShop(handback.command('shop').description('shops, their plans and rules'));
  addUser(handback.command('user').description('people who sign in to the admin app'));
  addClient(handback.command('client').description('API clients: the programs of a shop'));
  const secrets = handback.command('secrets').description('what is encrypted with SECRET_KEY');
  command(secrets, 'reseal', 'encrypt all secrets again, with the first key of SECRET_KEY').action(
    ({ json }) => once(json, (ctx, { secretsReseal }) => secretsReseal(ctx)),
  );
};

const plan = () => new Option('--plan <plan>', 'what the shop has bought').choices(PLANS);

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
    .action(({ json, ...options }) => once(json, (ctx, { shopCreate }) => shopCreate(ctx, options)));
  command(shop, 'update <id>', "change a shop's plan, subscription or limits")
    .addOption(plan())
    .addOption(
      new Option('--subscription <state>', 'inactive makes the shop read-only').choices(SUBSCRIPTIONS),
    )
    .addOption(allowance(wholeNumberOrNone, 'n|none'))
    .addOption(usageCap(wholeNumberOrNone, 'n|none'))
    .action((id, { json, ...options }) =>
      once(json, (ctx, { shopUpdate }) => shopUpdate(ctx, id, withNulls(options))),
    );
  command(shop, 'list', 'all shops').action(({ json }) => once(json, (ctx, { shopList }) => shopList(ctx)));
  command(shop, 'dangerous <id>', "show or change a shop's dangerous-goods rules")
    .option('--add <sku|prefix*>', 'a SKU, or a prefix that ends in *; repeatable', collect(skuPattern))
    .option('--remove <sku|prefix*>', 'a rule to remove; repeatable', collect(skuPattern))
    .action((id, { json, ...options }) =>
      once(json, (ctx, { shopDangerous }) => shopDangerous(ctx, id, options)),
    );
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
    ({ json, ...options }) => once(json, (ctx, { userInvite }) => userInvite(ctx, options)),
  );
  command(user, 'link <e-mail>', 'print a new link to choose a password').action((given, { json }) =>
    once(json, (ctx, { userLink }) => userLink(ctx, given)),
  );
  command(user, 'reset-factor <e-mail>', "remove a user's second factor").action((given, { json }) =>
    once(json, (ctx, { userResetFactor }) => userResetFactor(ctx, given)),
  );
};

const addClient = (client: Command): void => {
  command(client, 'create', 'create a client; its key and webhook secret are shown only now')
    .requiredOption('--shop <id>', 'the shop it belongs to')
    .requiredOption('--name <name>', 'its name', name)
    .option('--webhook-url <url>', 'where its events go')
    .action(({ json, ...options }) => once(json, (ctx, { clientCreate }) => clientCreate(ctx, options)));
  command(client, 'update <id>', "change a client's name or webhook URL")
    .option('--name <name>', 'its name', name)
    .option('--webhook-url <url|none>', 'where its events go', textOrNone)
    .action((id, { json, ...options }) =>
      once(json, (ctx, { clientUpdate }) => clientUpdate(ctx, id, withNulls(options))),
    );
  command(client, 'revoke <id>', 'revoke a key for good').action((id, { json }) =>
    once(json, (ctx, { clientRevoke }) => clientRevoke(ctx, id)),
  );
  command(
    client,
    'replace <id>',
    'create a client that takes over the events of another, and revoke that one',
  )
    .option('--name <name>', 'its name; that of the old client when absent', name)
    .option(
      '--webhook-url <url|none>',
      'where its events go; where those of the old client went when absent',
      textOrNone,
    )
    .action((id, { json, ...options }) =>
      once(json, (ctx, { clientReplace }) => clientReplace(ctx, id, withNulls(options))),
    );
  command(client, 'list', "a shop's clients")
    .requiredOption('--shop <id>', 'the shop')
    .action(({ json, ...options }) => once(json, (ctx, { clientList }) => clientList(ctx, options)));
};
