import { Command, CommanderError } from 'commander';
import { ConfigError } from '../config.ts';
import { VERSION } from '../version.ts';
import { addBackupCommands } from './backup-commands.ts';
import { addClientCommands } from './client.ts';
import { addEventCommands } from './event-commands.ts';
import { CliFailure } from './output.ts';
import { addSecretsCommands, addServiceCommands } from './service.ts';
import { addShopCommands } from './shop.ts';
import { addUserCommands } from './user.ts';

/** Exit statuses: 0 done, 1 could not be done, 2 not understood. */
export const run = async (argv: string[]): Promise<void> => {
  try {
    await program().parseAsync(argv);
  } catch (error) {
    if (error instanceof CommanderError) process.exitCode = error.exitCode === 0 ? 0 : 2;
    else {
      process.exitCode = 1;
      process.stderr.write(`handback: ${await explain(error)}\n`);
    }
  }
};

const explain = async (error: unknown): Promise<string> =>
  error instanceof CliFailure || error instanceof ConfigError
    ? error.message
    : (await import('../start-failure.ts')).explainStartFailure(error);

const program = (): Command => {
  const handback = new Command('handback')
    .description('Offline repairs and trade returns over HTTP.')
    .version(VERSION)
    .exitOverride()
    .showHelpAfterError('(add --help for what it takes)');
  addServiceCommands(handback);
  addShopCommands(handback);
  addUserCommands(handback);
  addClientCommands(handback);
  addSecretsCommands(handback);
  addBackupCommands(handback);
  addEventCommands(handback);
  return handback;
};
