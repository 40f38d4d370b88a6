import type { AddressInfo } from 'node:net';
import { resolve } from 'node:path';
import { buildApp } from '../api/app.ts';
import type { Context } from '../api/context.ts';
import { PAGES } from '../api/pages.ts';
import { checkBackups, startBackups } from '../backup/schedule.ts';
import { saveFact } from '../db/installation-facts.ts';
import { HOW_TO_BUILD, isBuilt } from '../http/built-files.ts';
import { ConfigError } from '../lib/config-error.ts';
import { type Config, VERSION } from '../platform/config.ts';
import { warning } from '../platform/log.ts';
import { explainListenFailure } from '../platform/start-failure.ts';
import { offerSetUp } from '../staff/links.ts';
import { startWebhooks } from '../webhooks/worker/dispatcher.ts';
import { startJanitor } from './janitor.ts';
import { stopWhenAsked } from './stop.ts';

export const serve = async (ctx: Context): Promise<void> => {
  const app = await buildApp(ctx);
  await checkBackups(ctx.config);
  await ctx.openConnections();
  const { host, port, role, publicUrl } = ctx.config;
  // A closed standard error must not end the process.
  process.stderr.on('error', () => {});
  await app.listen({ host, port }).catch((error) => {
    throw new ConfigError(explainListenFailure(error, host, port));
  });
  // Port 0 means any free port.
  const { port: listeningPort } = app.server.address() as AddressInfo;
  const url = publicUrl.replace(/:0$/, `:${listeningPort}`);
  if (role !== 'worker')
    await saveFact(ctx.db, 'address', url).catch(
      warning(ctx.log, 'the address of the service could not be saved for commands'),
    );
  const stopJanitor = startJanitor(ctx);
  const stopBackups = startBackups(ctx);
  const stopWebhooks = role === 'api' ? async () => {} : await startWebhooks(ctx);
  // Without the app the link would not work, and a new token would invalidate the one that another process printed.
  const token = role === 'worker' || !isBuilt('admin') ? null : await offerSetUp(ctx);
  ctx.log.info({ version: VERSION, role, host, port: listeningPort }, 'ready');
  stopWhenAsked({ app, ctx, stopJanitor, stopWebhooks, stopBackups });
  greet(ctx.config, url, token);
};

/** Prints the first lines on standard error. They only mention pages that exist. */
const greet = (config: Config, url: string, setUpToken: string | null): void => {
  const say = (line: string) => process.stderr.write(`${line}\n`);
  say(`Handback ${VERSION} is ready at ${url}${isBuilt('docs') ? ` (documentation: ${url}/docs)` : ''}`);
  const missing = PAGES.filter(({ name }) => !isBuilt(name)).map(({ title }) => `the ${title}`);
  if (missing.length > 0)
    say(
      `Not built here: ${missing.join(' and ')}. To have what is missing, ${HOW_TO_BUILD}. npx --no handback --help lists what works without.`,
    );
  if (setUpToken) say(firstSteps(`${url}/admin/set-up#${setUpToken}`, settingsFor(config)));
};

/** The settings with which a command finds the data of this service. */
const settingsFor = ({ databaseUrl, dataDir, dataDirIsSet }: Config): string => {
  if (databaseUrl) return 'with DATABASE_URL and SECRET_KEY as they are here';
  return dataDirIsSet ? `with DATA_DIR=${resolve(dataDir)}` : 'in this folder';
};

const firstSteps = (link: string, settings: string): string => `
There is no shop yet. Either create the first one and its Admin here (the link works once, for one hour; a restart prints
a new one):

  ${link}

or, in another terminal, ${settings}:

  npx --no handback demo                          a demo shop with sample data, and a key to call it
  npx --no handback shop create --name "My shop"  a shop of your own; then, with the id it prints,
  npx --no handback client create --shop ID --name "Till"
`;
