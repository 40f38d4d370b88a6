import type { Command } from 'commander';
import { name, textOrNone, withNulls } from './arguments.ts';
import { command, once } from './command.ts';

export const addClientCommands = (handback: Command): void => {
  const client = handback.command('client').description('API clients: the programs of a shop');
  command(client, 'create', 'make a client; its key and webhook secret are shown this once')
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
  command(client, 'revoke <id>', 'stop a key for good').action((id, { json }) =>
    once(json, (ctx, { clientRevoke }) => clientRevoke(ctx, id)),
  );
  command(
    client,
    'replace <id>',
    "make a new client in another's place, with its events, and stop the old key",
  )
    .option('--name <name>', 'its name; else that of the old client', name)
    .option(
      '--webhook-url <url|none>',
      'where its events go; else where those of the old client went',
      textOrNone,
    )
    .action((id, { json, ...options }) =>
      once(json, (ctx, { clientReplace }) => clientReplace(ctx, id, withNulls(options))),
    );
  command(client, 'list', "a shop's clients")
    .requiredOption('--shop <id>', 'the shop')
    .action(({ json, ...options }) => once(json, (ctx, { clientList }) => clientList(ctx, options)));
};
