import { EventEmitter } from 'node:events';
import { type Database, type Observer, WAKE_TOPICS, type WakeListener, type WakeTopic } from '../database.ts';
import type { CheckedPool } from './checked-pool.ts';
import type { PreparingClient } from './client.ts';
import type { Hosts } from './hosts.ts';

export const CHANNELS: Record<WakeTopic, string> = { deliveries: 'handback_wake', events: 'handback_events' };
const RECONNECT_MS = 1_000;
/** A connection that only listens would never notice that the other side is gone. */
const SIGN_OF_LIFE_EVERY_MS = 10_000;
/** What fits into the 8,000 bytes of a notification. */
const MOST_NAMED = 200;

/**
 * Wake-up calls: at once to listeners in this process, by NOTIFY to those in others. NOTIFY is sent after the commit and not
 * inside it, where it would make commits wait for each other; calls that come while one is on its way share the next. A
 * call lost in a crash loses nothing: whoever waits also looks by itself now and then.
 */
export const wakeCalls = (
  pool: Pick<CheckedPool, 'query'>,
  hosts: Hosts,
  newClient: () => PreparingClient,
  onFault: Observer['onFault'],
): Pick<Database, 'wake' | 'onWake'> & { sent(): Promise<void> } => {
  // As many requests may wait for events as there are.
  const listeners = new EventEmitter().setMaxListeners(0);
  const untold: Record<WakeTopic, Set<string | null>> = { deliveries: new Set(), events: new Set() };
  let telling: Promise<void> | null = null;
  let stopListening: (() => Promise<void>) | null = null;

  const isAnyUntold = (): boolean => WAKE_TOPICS.some((topic) => untold[topic].size > 0);
  const tellOthers = async (): Promise<void> => {
    while (isAnyUntold()) {
      const calls = WAKE_TOPICS.filter((topic) => untold[topic].size > 0).map((topic) => [
        CHANNELS[topic],
        named(untold[topic]),
      ]);
      for (const topic of WAKE_TOPICS) untold[topic].clear();
      await pool
        .query('select pg_notify(call ->> 0, call ->> 1) from json_array_elements($1) as call', [
          JSON.stringify(calls),
        ])
        .catch((error) => onFault('wake-up call lost', error));
    }
    telling = null;
  };
  const emit = (topic: WakeTopic, id: string | null): void => {
    try {
      listeners.emit(topic, id);
    } catch (error) {
      onFault('wake-up call failed', error);
    }
  };

  return {
    // The change is committed: nothing that goes wrong from here on may fail the request.
    wake(topic, id) {
      emit(topic, id);
      untold[topic].add(id);
      telling ??= tellOthers();
    },
    /** Resolves when every call so far has reached the server, or was given up. */
    async sent() {
      await telling;
    },
    async onWake(topic, listener) {
      listeners.on(topic, listener);
      stopListening ??= listen(hosts, newClient, emit, onFault);
      return async () => {
        listeners.off(topic, listener);
        if (WAKE_TOPICS.some((each) => listeners.listenerCount(each) > 0)) return;
        const stop = stopListening;
        stopListening = null;
        await stop?.();
      };
    },
  };
};

/** Their ids; nothing, and with it all, where they are too many to name. */
const named = (ids: Set<string | null>): string =>
  ids.size > MOST_NAMED || ids.has(null) ? '' : [...ids].join();

const TOPIC_OF = new Map(WAKE_TOPICS.map((topic) => [CHANNELS[topic], topic]));

/** Holds one connection that listens, and makes a new one when it breaks; a call makes up for what was missed meanwhile. */
const listen = (
  hosts: Hosts,
  newClient: () => PreparingClient,
  heard: (topic: WakeTopic, ...id: Parameters<WakeListener>) => void,
  onFault: Observer['onFault'],
): (() => Promise<void>) => {
  let stopped = false;
  let client: PreparingClient | null = null;
  let timer: NodeJS.Timeout | null = null;

  const again = () => {
    if (!stopped) timer = setTimeout(connect, RECONNECT_MS);
  };
  /** Its end brings the next one. */
  const prepared = (): PreparingClient => {
    const next = newClient();
    const pulse = setInterval(
      // The error ends the connection, which is heard below.
      () => next.query('select 1').catch(() => next.end()),
      SIGN_OF_LIFE_EVERY_MS,
    ).unref();
    next.on('notification', ({ channel, payload }) => {
      const topic = TOPIC_OF.get(channel);
      if (topic) for (const id of (payload ?? '').split(',')) heard(topic, id || null);
    });
    next.on('error', (error) => onFault('listening connection lost', error));
    next.once('end', () => {
      clearInterval(pulse);
      again();
    });
    return next;
  };
  /** None where it took so long to find a host that nobody listens any more. */
  const open = async (): Promise<PreparingClient | null> => {
    if (stopped) return null;
    client = prepared();
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
      if (next) for (const topic of WAKE_TOPICS) heard(topic, null);
    } catch (error) {
      onFault('listening connection failed', error);
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
