import type { Command } from 'commander';
import { readConfig } from '../config.ts';
import type { Context } from '../context.ts';
import { print } from './output.ts';

/** A command that prints what it gives, for people or as JSON. */
export const command = (parent: Command, spelling: string, description: string): Command =>
  parent.command(spelling).description(description).option('--json', 'print one line of JSON');

type Commands = typeof import('./commands.ts');
type Result = Parameters<typeof print>[0];

/**
 * Runs one command on an open context, prints what it gives, and closes: no server is needed, none is disturbed. The service's
 * code is loaded here and not before, so that a wrong command or setting is answered at once.
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
