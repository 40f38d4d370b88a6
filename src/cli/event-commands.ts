import { Argument, type Command, Option } from 'commander';
import { RMA_EVENT_NAMES } from '../../contract/event-feed.ts';
import { readConfig } from '../service/config.ts';
import { httpStatus, secretOption, usableSecret, webAddress, wholeNumber } from './arguments.ts';
import { command } from './command.ts';

/** Commands for developers of receivers and of programs that follow the events. None of them needs a database. */
export const addEventCommands = (handback: Command): void => {
  addListen(handback);
  addTrigger(handback);
  addEvents(handback);
};

const addListen = (handback: Command): void => {
  handback
    .command('listen')
    .description('a webhook receiver for development: shows each delivery and checks its signature')
    .addOption(new Option('--port <port>', 'where to listen').argParser(wholeNumber).default(4000))
    .addOption(secretOption('secret', "the client's webhook secret"))
    .addOption(
      new Option('--answer <status>', 'the status to answer with, 500 for example')
        .argParser(httpStatus)
        .default(200),
    )
    .option('--hang', 'never answer')
    .action(async (options) => {
      const { listen } = await import('./webhook-tools.ts');
      // It never ends by itself, and is of no use once its reader has gone.
      process.stdout.on('error', () => process.exit());
      await listen(options, (line) => process.stdout.write(`${line}\n`));
    });
};

const addTrigger = (handback: Command): void => {
  command(handback, 'trigger', 'send one signed sample event to a receiver')
    .addArgument(new Argument('<event>', 'what happened').choices([...RMA_EVENT_NAMES, 'webhook.test']))
    .requiredOption('--to <url>', 'the receiver', webAddress)
    .addOption(secretOption('secret', 'what the receiver checks signatures with'))
    .action(async (event, options, self) => {
      const secret = usableSecret(self, 'secret', options.secret);
      const { trigger } = await import('./webhook-tools.ts');
      await trigger(event, { ...options, secret });
    });
};

const addEvents = (handback: Command): void => {
  handback
    .command('events')
    .description(
      "follow a shop's events; with --forward-to, send each one to a receiver that has no public address. Prints at its end the cursor to go on from",
    )
    .addOption(secretOption('key', 'the key of an API client'))
    .addOption(
      new Option('--url <url>', 'the address of the service; PUBLIC_URL, or HOST and PORT, when absent')
        .env('HANDBACK_URL')
        .argParser(webAddress),
    )
    .option('--after <cursor>', 'where to begin: a cursor, latest or oldest (the default)')
    .option(
      '--types <events>',
      'which events, separated by commas, or all; the nine of the specification when absent',
    )
    .option('--forward-to <url>', 'send each event there, signed as a webhook is', webAddress)
    .addOption(secretOption('secret', 'what the receiver of --forward-to checks signatures with'))
    .option('--json', 'print each event as a line of JSON')
    // Refused below, without being printed: it may be the key.
    .allowExcessArguments()
    .action(async ({ forwardTo, secret, url, after, types, json = false, ...options }, self) => {
      if (self.args.length > 0) self.error('error: too many arguments: the key goes after --key');
      const key = usableSecret(self, 'key', options.key);
      const forward = forwardTo && { to: forwardTo, secret: usableSecret(self, 'secret', secret) };
      const base = url ?? readConfig(process.env).publicUrl;
      const { followEvents } = await import('./follow-events.ts');
      await followEvents({ key, url: base, after, types, forward, json });
    });
};
