import { EventEmitter } from 'node:events';
import type pg from 'pg';
import type { Database, Observer, WakeListener } from '../database.ts';
import type { CheckedPool } from './checked-pool.ts';

export const CHANNEL = 'handback_wake';
const WAKE = 'wake';
const RECONNECT_MS = 1_000;
/** A connection that only listens would never notice that the other side is gone. */
const SIGN_OF_LIFE_EVERY_MS = 10_000;
/** What fits into the 8,000 bytes of a notification. */
const MOST_NAMED = 200;

/**
 * Wake-up calls: at once to listeners in this process, by NOTIFY to those in others. NOTIFY is sent after the commit and not
 * inside it, where it would make commits wait for each other; calls that come while one is on its way share the next. A
 * call lost in a crash costs no delivery: a dispatcher also looks by itself now and then.
 */
export const wakeCalls = (
  pool: Pick<CheckedPool, 'query'>,
  newClient: () => pg.Client,
  onFault: Observer['onFault'],
): Pick<Database, 'wake' | 'onWake'> & { sent(): Promise<void> } => {
  const listeners = new EventEmitter();
  const untold = new Set<string | null>();
  let telling: Promise<void> | null = null;

  const tellOthers = async (): Promise<void> => {
    while (untold.size > 0) {
      const named = untold.size > MOST_NAMED || untold.has(null) ? '' : [...untold].join();
      untold.clear();
      await pool
        .query('select pg_notify($1, $2)', [CHANNEL, named])
        .catch((error) => onFault('wake-up call lost', error));
    }
    telling = null;
  };

  return {
    wake(clientId) {
      // The change is committed: nothing that goes wrong from here on may fail the request.
      try {
        listeners.emit(WAKE, clientId);
      } catch (error) {
        onFault('wake-up call failed', error);
      }
      untold.add(clientId);
      telling ??= tellOthers();
    },
    /** Resolves when every call so far has reached the server, or was given up. */
    async sent() {
      await telling;
    },
    async onWake(listener) {
      listeners.on(WAKE, listener);
      const stopListening = listen(newClient, listener, onFault);
      return async () => {
        listeners.off(WAKE, listener);
        await stopListening();
      };
    },
  };
};

/** Holds a connection that listens, and makes a new one when it breaks; a call makes up for what was missed meanwhile. */
const listen = (
  newClient: () => pg.Client,
  listener: WakeListener,
  onFault: Observer['onFault'],
): (() => Promise<void>) => {
  let stopped = false;
  let client: pg.Client | null = null;
  let timer: NodeJS.Timeout | null = null;

  const connect = async (): Promise<void> => {
    const next = newClient();
    client = next;
    const pulse = setInterval(
      // The error ends the connection, which is heard below.
      () => next.query('select 1').catch(() => next.end()),
      SIGN_OF_LIFE_EVERY_MS,
    ).unref();
    next.on('notification', ({ payload }) => {
      for (const clientId of (payload ?? '').split(',')) listener(clientId || null);
    });
    next.on('error', (error) => onFault('listening connection lost', error));
    next.once('end', () => {
      clearInterval(pulse);
      if (!stopped) timer = setTimeout(connect, RECONNECT_MS);
    });
    try {
      await next.connect();
      await next.query(`listen ${CHANNEL}`);
      listener(null);
    } catch (error) {
      onFault('listening connection failed', error);
      // It has been told of already; its end brings the next one.
      await next.end().catch(() => {});
    }
  };
  void connect();

  return async () => {
    stopped = true;
    if (timer) clearTimeout(timer);
    // It is of no use any more, however it ends.
    await client?.end().catch(() => {});
  };
};
