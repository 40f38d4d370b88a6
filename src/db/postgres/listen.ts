import { EventEmitter } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { withTimeout } from '../../lib/time.ts';
import { WAKE_TOPICS, type WakeListener, type WakeTopic } from '../types.ts';
import { type CheckedPool, clientConfig } from './pools.ts';

export const CHANNELS: Record<WakeTopic, string> = { deliveries: 'handback_wake', events: 'handback_events' };
/** This many ids fit into the 8,000 bytes of a notification. */
const MOST_NAMED = 200;
const RECONNECT_MS = 1_000;
/** A connection that only listens would not notice that the server is gone. */
const SIGN_OF_LIFE_EVERY_MS = 10_000;
const LAST_NOTIFICATIONS_TIMEOUT_MS = 100;

/** NOTIFY is sent after the commit, since within it commits would wait for each other. A lost one only delays, since processes also poll. */
export class Notifications {
  readonly #pool: CheckedPool;
  // The number of listeners is not limited, since any number of requests may wait for events.
  readonly #listeners = new EventEmitter().setMaxListeners(0);
  readonly #unsent: Record<WakeTopic, Set<string | null>> = { deliveries: new Set(), events: new Set() };
  readonly #closed = new AbortController();
  #sending: Promise<void> | null = null;
  #listening: Promise<void> | null = null;
  #client: pg.Client | null = null;

  constructor(pool: CheckedPool) {
    this.#pool = pool;
    // Processes that use the new server do not send notifications to the old one.
    pool.hosts.on('move', this.#leave);
  }

  // The change is committed, so an error from here on must not fail the request.
  wake(topic: WakeTopic, id: string | null): void {
    this.#emit(topic, id);
    this.#unsent[topic].add(id);
    this.#sending ??= this.#send();
  }

  onWake(topic: WakeTopic, listener: WakeListener): () => void {
    this.#listeners.on(topic, listener);
    this.#listening ??= this.#listen();
    return () => void this.#listeners.off(topic, listener);
  }

  async close(): Promise<void> {
    this.#closed.abort();
    // The last notification wakes other processes, which take over the receivers of this one. If it is lost, they are only delayed.
    const ending = Promise.all([this.#sending, this.#client?.end()]);
    await withTimeout(ending, LAST_NOTIFICATIONS_TIMEOUT_MS, () => new Error('not sent')).catch(this.#leave);
  }

  #emit(topic: WakeTopic, id: string | null): void {
    try {
      this.#listeners.emit(topic, id);
    } catch (error) {
      this.#pool.observer.onDatabaseError('wake-up call failed', error);
    }
  }

  async #send(): Promise<void> {
    for (;;) {
      const topics = WAKE_TOPICS.filter((topic) => this.#unsent[topic].size > 0);
      if (topics.length === 0) break;
      const calls = topics.map((topic) => [CHANNELS[topic], payloadOf(this.#unsent[topic])]);
      for (const topic of topics) this.#unsent[topic].clear();
      const text = 'select pg_notify(call ->> 0, call ->> 1) from json_array_elements($1) as call';
      await this.#pool
        .query(text, [JSON.stringify(calls)])
        .catch((error) => this.#pool.observer.onDatabaseError('wake-up call lost', error));
    }
    this.#sending = null;
  }

  /** Holds one connection that listens and opens a new one when it breaks, after which it wakes all listeners. */
  async #listen(): Promise<void> {
    const { hosts, observer } = this.#pool;
    const { signal } = this.#closed;
    while (!signal.aborted) {
      try {
        const { client, ended } = await hosts.connect((url) => this.#connect(url));
        for (const topic of WAKE_TOPICS) this.#emit(topic, null);
        const signOfLife = () => client.query('select 1').catch(() => client.end());
        const pulse = setInterval(signOfLife, SIGN_OF_LIFE_EVERY_MS).unref();
        await ended;
        clearInterval(pulse);
      } catch (error) {
        if (!signal.aborted) observer.onDatabaseError('listening connection failed', error);
        // The connection is not used any more, so errors of its end do not matter.
        this.#client?.end().catch(() => {});
      }
      await pause(RECONNECT_MS, undefined, { signal }).catch(() => {});
    }
  }

  async #connect(connectionString: string): Promise<{ client: pg.Client; ended: Promise<void> }> {
    // Finding a host may have taken long.
    this.#closed.signal.throwIfAborted();
    const client = new pg.Client({ ...clientConfig(), connectionString });
    this.#client = client;
    const ended = new Promise<void>((resolve) => client.once('end', resolve));
    client.on('notification', ({ channel, payload }) => {
      const topic = WAKE_TOPICS.find((each) => CHANNELS[each] === channel);
      if (topic) for (const id of (payload ?? '').split(',')) this.#emit(topic, id || null);
    });
    client.on('error', (error) => this.#pool.observer.onDatabaseError('listening connection lost', error));
    await client.connect();
    await client.query(WAKE_TOPICS.map((topic) => `listen ${CHANNELS[topic]}`).join('; '));
    return { client, ended };
  }

  /** Closes without a terminate message, which a dead server would never read. */
  readonly #leave = (): void => {
    this.#client?.connection.stream.destroy();
  };
}

/** Returns the ids; an empty text, which means all, if there are too many. */
const payloadOf = (ids: Set<string | null>): string =>
  ids.size > MOST_NAMED || ids.has(null) ? '' : [...ids].join();
