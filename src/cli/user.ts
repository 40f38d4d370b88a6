import { type Command, Option } from 'commander';
import { USER_ROLES } from '../../contract/admin-people.ts';
import { email, passwordFrom, personName } from './arguments.ts';
import { command, once } from './command.ts';

export const addUserCommands = (handback: Command): void => {
  const user = handback.command('user').description('people who sign in to the admin app');
  command(user, 'create', 'make a user')
    .requiredOption('--shop <id>', 'the shop they work for')
    .requiredOption('--email <e-mail>', 'what they sign in with', email)
    .option('--name <name>', 'what timelines call them', personName)
    .addOption(new Option('--role <role>', 'what they may do').choices(USER_ROLES).makeOptionMandatory())
    .option('--password <password>', 'asked for, or read from standard input, when absent')
    .action(async ({ json, ...options }) => {
      const password = await passwordFrom(options.password);
      await once(json, (ctx, { userCreate }) => userCreate(ctx, { ...options, password }));
    });
};
