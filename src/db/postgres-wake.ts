import { EventEmitter } from 'node:events';
import type pg from 'pg';
import type { Database, WakeListener } from './database.ts';

export const CHANNEL = 'handback_wake';
const WAKE = 'wake';
const RECONNECT_MS = 1000;
/** What fits into the 8,000 bytes of a notification. */
const MOST_NAMED = 200;

/**
 * Wake-up calls: at once to listeners in this process, by NOTIFY to those in others. NOTIFY is sent after the commit and not
 * inside it, where it would make commits wait for each other; calls that come while one is on its way share the next. A
 * call lost in a crash costs no delivery: a dispatcher also looks by itself now and then.
 */
export const wakeCalls = (pool: pg.Pool, newClient: () => pg.Client): Pick<Database, 'wake' | 'onWake'> => {
  const listeners = new EventEmitter();
  const untold = new Set<string | null>();
  let telling = false;

  const tellOthers = async (): Promise<void> => {
    if (telling) return;
    telling = true;
    while (untold.size > 0) {
      const named = untold.size > MOST_NAMED || untold.has(null) ? '' : [...untold].join();
      untold.clear();
      await pool.query('select pg_notify($1, $2)', [CHANNEL, named]).catch(() => {});
    }
    telling = false;
  };

  return {
    wake(clientId) {
      listeners.emit(WAKE, clientId);
      untold.add(clientId);
      void tellOthers();
    },
    async onWake(listener) {
      listeners.on(WAKE, listener);
      const stopListening = listen(newClient, listener);
      return async () => {
        listeners.off(WAKE, listener);
        await stopListening();
      };
    },
  };
};

/** Holds a connection that listens, and makes a new one when it breaks; what was missed meanwhile is made up for by a call. */
const listen = (newClient: () => pg.Client, listener: WakeListener): (() => Promise<void>) => {
  let stopped = false;
  let client: pg.Client | null = null;
  let timer: NodeJS.Timeout | null = null;

  const connect = async (): Promise<void> => {
    const next = newClient();
    client = next;
    next.on('notification', ({ payload }) => {
      for (const clientId of (payload ?? '').split(',')) listener(clientId || null);
    });
    next.on('error', () => {});
    next.once('end', () => {
      if (!stopped) timer = setTimeout(connect, RECONNECT_MS);
    });
    try {
      await next.connect();
      await next.query(`listen ${CHANNEL}`);
      listener(null);
    } catch {
      await next.end().catch(() => {});
    }
  };
  void connect();

  return async () => {
    stopped = true;
    if (timer) clearTimeout(timer);
    await client?.end().catch(() => {});
  };
};
