import { type Observer, WAKE_TOPICS, type WakeListener, type WakeTopic } from '../database.ts';
import type { PreparingClient } from './client.ts';
import type { Hosts } from './hosts.ts';

export const CHANNELS: Record<WakeTopic, string> = { deliveries: 'handback_wake', events: 'handback_events' };
const RECONNECT_MS = 1_000;
/** A connection that only listens would never notice that the other side is gone. */
const SIGN_OF_LIFE_EVERY_MS = 10_000;

const TOPIC_OF = new Map(WAKE_TOPICS.map((topic) => [CHANNELS[topic], topic]));

interface Handlers {
  heard(topic: WakeTopic, ...id: Parameters<WakeListener>): void;
  onFault: Observer['onFault'];
}

/** Passes on what a connection hears, and sees whether it still lives. */
const attend = (client: PreparingClient, { heard, onFault }: Handlers, ended: () => void): void => {
  const pulse = setInterval(
    // The error ends the connection, which is heard below.
    () => client.query('select 1').catch(() => client.end()),
    SIGN_OF_LIFE_EVERY_MS,
  ).unref();
  client.on('notification', ({ channel, payload }) => {
    const topic = TOPIC_OF.get(channel);
    if (topic) for (const id of (payload ?? '').split(',')) heard(topic, id || null);
  });
  client.on('error', (error) => onFault('listening connection lost', error));
  client.once('end', () => {
    clearInterval(pulse);
    ended();
  });
};

/** Holds one connection that listens, and makes a new one when it breaks; a call makes up for what was missed meanwhile. */
export const listen = (
  hosts: Hosts,
  newClient: () => PreparingClient,
  handlers: Handlers,
): (() => Promise<void>) => {
  let stopped = false;
  let client: PreparingClient | null = null;
  let timer: NodeJS.Timeout | null = null;

  const again = () => {
    if (!stopped) timer = setTimeout(connect, RECONNECT_MS);
  };
  /** None where it took so long to find a host that nobody listens any more. */
  const open = async (): Promise<PreparingClient | null> => {
    if (stopped) return null;
    client = newClient();
    attend(client, handlers, again);
    await client.connect();
    return client;
  };
  const giveUp = async (): Promise<void> => {
    // It has been told of already.
    if (client) await client.end().catch(() => {});
    else again();
  };
  const connect = async (): Promise<void> => {
    client = null;
    try {
      const next = await hosts.connect(open);
      await next?.query(WAKE_TOPICS.map((topic) => `listen ${CHANNELS[topic]}`).join('; '));
      if (next) for (const topic of WAKE_TOPICS) handlers.heard(topic, null);
    } catch (error) {
      handlers.onFault('listening connection failed', error);
      await giveUp();
    }
  };
  // At the old server nobody calls any more.
  const forgetMoves = hosts.onMove(() => client?.destroy());
  void connect();

  return async () => {
    stopped = true;
    forgetMoves();
    if (timer) clearTimeout(timer);
    // It is of no use any more, however it ends.
    await client?.end().catch(() => {});
  };
};
