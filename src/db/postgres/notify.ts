import { EventEmitter } from 'node:events';
import { type Database, type Observer, WAKE_TOPICS, type WakeTopic } from '../database.ts';
import type { CheckedPool } from './checked-pool.ts';
import type { PreparingClient } from './client.ts';
import type { Hosts } from './hosts.ts';
import { CHANNELS, listen } from './listening.ts';

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
      stopListening ??= listen(hosts, newClient, { heard: emit, onFault });
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
