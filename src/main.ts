import type { AddressInfo } from 'node:net';
import closeWithGrace from 'close-with-grace';
import { buildApp } from './app.ts';
import { ConfigError } from './config.ts';
import type { Context } from './context.ts';
import { describeError } from './describe-error.ts';
import { startJanitor } from './janitor.ts';
import { offerSetUp } from './staff/set-up.ts';
import { explainListenFailure } from './start-failure.ts';
import { VERSION } from './version.ts';
import { startWebhooks } from './webhooks/start.ts';

/** Longer than the longest request may take, so that a stop loses none. */
const GRACE_MS = 15_000;

/** Starts what this process is for, and stops it in order: no new requests, finish those in flight, then the database. */
export const serve = async (ctx: Context, say: (line: string) => void): Promise<void> => {
  const app = await buildApp(ctx);
  const { host, port, role, publicUrl } = ctx.config;
  await app.listen({ host, port }).catch((error) => {
    throw new ConfigError(explainListenFailure(error, host, port));
  });
  // Port 0 asks for any free one.
  const { port: listeningPort } = app.server.address() as AddressInfo;
  const stopJanitor = startJanitor(ctx);
  const stopWebhooks = role === 'api' ? async () => {} : await startWebhooks(ctx);
  const token = role === 'worker' ? null : await offerSetUp(ctx);
  ctx.log.info({ version: VERSION, role, host, port: listeningPort }, 'ready');

  closeWithGrace({ delay: GRACE_MS, logger: false }, async ({ signal, err }) => {
    if (err) ctx.log.fatal({ fault: describeError(err) }, 'stopping after an error nobody handled');
    else ctx.log.info({ signal }, 'stopping');
    stopJanitor();
    await app.close();
    await stopWebhooks();
    await ctx.close();
    ctx.log.info('stopped');
  });

  const url = publicUrl.replace(/:0$/, `:${listeningPort}`);
  say(`Handback ${VERSION} is ready at ${url} (API reference: ${url}/docs)`);
  if (token) say(firstSteps(`${url}/admin/set-up?token=${token}`));
};

const firstSteps = (link: string): string => `
There is no shop yet. Make the first one and its Admin here (the link works once):

  ${link}

or, in another terminal in this folder:

  npx handback demo                          a filled shop to look at, with a key to call it
  npx handback shop create --name "My shop"  a shop of your own; then, with the id it prints,
  npx handback client create --shop ID --name "Till"
`;
