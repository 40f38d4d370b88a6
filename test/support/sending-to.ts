import { type Behaviour, startReceiver } from './receiver.ts';
import { webhookHarness } from './webhooks.ts';

/** A dispatcher that runs, a receiver that answers like this, and a client that has its URL. */
export const sendingTo = async (behaviour?: Behaviour) => {
  const receiver = await startReceiver(behaviour);
  const t = await webhookHarness();
  return { t, receiver, client: await t.addReceiver(receiver.url) };
};
