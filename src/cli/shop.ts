import { type Command, Option } from 'commander';
import { PLANS, SUBSCRIPTIONS } from '../../contract/admin-people.ts';
import { collect, name, skuPattern, wholeNumber, wholeNumberOrNone, withNulls } from './arguments.ts';
import { command, once } from './command.ts';

const plan = () => new Option('--plan <plan>', 'what the shop has bought').choices(PLANS);

const allowance = (take: typeof wholeNumberOrNone, form: string) =>
  new Option(`--allowance <${form}>`, 'RMAs a month; the shop is billed by allowance')
    .argParser(take)
    .conflicts('usageCap');

const usageCap = (take: typeof wholeNumberOrNone, form: string) =>
  new Option(`--usage-cap <${form}>`, 'RMAs a month; the shop is billed by use').argParser(take);

export const addShopCommands = (handback: Command): void => {
  const shop = handback.command('shop').description('shops, their plans and rules');
  command(shop, 'create', 'make a shop')
    .requiredOption('--name <name>', 'its name', name)
    .addOption(plan().default('SCALE'))
    .addOption(allowance(wholeNumber, 'n'))
    .addOption(usageCap(wholeNumber, 'n'))
    .action(({ json, ...options }) => once(json, (ctx, { shopCreate }) => shopCreate(ctx, options)));
  command(shop, 'update <id>', "change a shop's plan, subscription or figures")
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
  command(shop, 'dangerous <id>', "read or change a shop's dangerous-goods rules")
    .option('--add <sku|prefix*>', 'a sku, or a prefix that ends in *; repeatable', collect(skuPattern))
    .option('--remove <sku|prefix*>', 'a rule to take away; repeatable', collect(skuPattern))
    .action((id, { json, ...options }) =>
      once(json, (ctx, { shopDangerous }) => shopDangerous(ctx, id, options)),
    );
};
