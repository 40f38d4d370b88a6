import { type Command, Option } from 'commander';
import { USER_ROLES } from '../../contract/admin-people.ts';
import { email, passwordFrom, personName } from './arguments.ts';
import { command, once } from './command.ts';

/** A command that makes a person. */
const newPerson = (parent: Command, spelling: string, description: string): Command =>
  command(parent, spelling, description)
    .requiredOption('--shop <id>', 'the shop they work for')
    .requiredOption('--email <e-mail>', 'what they sign in with', email)
    .option('--name <name>', 'what timelines call them', personName)
    .addOption(new Option('--role <role>', 'what they may do').choices(USER_ROLES).makeOptionMandatory());

export const addUserCommands = (handback: Command): void => {
  const user = handback.command('user').description('people who sign in to the admin app');
  newPerson(user, 'create', 'make a user')
    .option('--password <password>', 'asked for, or read from standard input, when absent')
    .action(async ({ json, ...options }) => {
      const password = await passwordFrom(options.password);
      await once(json, (ctx, { userCreate }) => userCreate(ctx, { ...options, password }));
    });
  newPerson(user, 'invite', 'make a user, with a link by which they choose a password').action(
    ({ json, ...options }) => once(json, (ctx, { userInvite }) => userInvite(ctx, options)),
  );
  command(user, 'link <e-mail>', 'a new link by which a user chooses a password').action((given, { json }) =>
    once(json, (ctx, { userLink }) => userLink(ctx, given)),
  );
  command(user, 'reset-factor <e-mail>', "take a user's second factor away").action((given, { json }) =>
    once(json, (ctx, { userResetFactor }) => userResetFactor(ctx, given)),
  );
};
