import { EventEmitter } from 'node:events';
import pg from 'pg';
import { WAKE_TOPICS, type WakeListener, type WakeTopic } from '../database.ts';
import { type CheckedPool, clientConfig } from './pools.ts';

export const CHANNELS: Record<WakeTopic, string> = { deliveries: 'handback_wake', events: 'handback_events' };
const TOPIC_OF = new Map(WAKE_TOPICS.map((topic) => [CHANNELS[topic], topic]));
/** What fits into the 8,000 bytes of a notification. */
const MOST_NAMED = 200;
const RECONNECT_MS = 1_000;
/** A connection that only listens would never notice that the other side is gone. */
const SIGN_OF_LIFE_EVERY_MS = 10_000;

/** NOTIFY is sent after the commit: inside it commits would wait for each other. A lost one only delays, since processes also poll. */
export class Notifications {
  readonly #pool: CheckedPool;
  // As many requests may wait for events as there are.
  readonly #listeners = new EventEmitter().setMaxListeners(0);
  readonly #unsent: Record<WakeTopic, Set<string | null>> = { deliveries: new Set(), events: new Set() };
  #sending: Promise<void> | null = null;
  #listener: Listener | null = null;

  constructor(pool: CheckedPool) {
    this.#pool = pool;
  }

  // The change is committed: nothing that goes wrong from here on may fail the request.
  wake(topic: WakeTopic, id: string | null): void {
    this.#emit(topic, id);
    this.#unsent[topic].add(id);
    this.#sending ??= this.#send();
  }

  /** Resolves when every notification so far has reached the server, or was given up. */
  async sent(): Promise<void> {
    await this.#sending;
  }

  async onWake(topic: WakeTopic, listener: WakeListener): Promise<() => Promise<void>> {
    this.#listeners.on(topic, listener);
    this.#listener ??= new Listener(this.#pool, (of, id) => this.#emit(of, id));
    return async () => {
      this.#listeners.off(topic, listener);
      if (WAKE_TOPICS.some((each) => this.#listeners.listenerCount(each) > 0)) return;
      const unused = this.#listener;
      this.#listener = null;
      await unused?.stop();
    };
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
}

/** Their ids; nothing, which means all, where they are too many to name. */
const payloadOf = (ids: Set<string | null>): string =>
  ids.size > MOST_NAMED || ids.has(null) ? '' : [...ids].join();

type OnNotification = (topic: WakeTopic, id: string | null) => void;

/** Holds one connection that listens, and opens a new one when it breaks; then it notifies for all that was missed. */
class Listener {
  readonly #pool: CheckedPool;
  readonly #onNotification: OnNotification;
  #isStopped = false;
  #client: pg.Client | null = null;
  #timer: NodeJS.Timeout | undefined;

  constructor(pool: CheckedPool, onNotification: OnNotification) {
    this.#pool = pool;
    this.#onNotification = onNotification;
    pool.hosts.on('move', this.#leave);
    void this.#connect();
  }

  /** Processes that use the new server do not notify at the old one. */
  readonly #leave = (): void => {
    this.#client?.connection.stream.destroy();
  };

  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#pool.hosts.off('move', this.#leave);
    clearTimeout(this.#timer);
    // Not used any more, whether it ends in good order or not.
    await this.#client?.end().catch(() => {});
  }

  async #connect(): Promise<void> {
    try {
      await this.#pool.hosts.connect(async (url) => {
        // It may have taken long to find a host.
        if (!this.#isStopped) await this.#listenAt(url);
      });
    } catch (error) {
      this.#pool.observer.onDatabaseError('listening connection failed', error);
      // The end of one that was opened calls #reconnect.
      if (this.#client) await this.#client.end().catch(() => {});
      else this.#reconnect();
    }
  }

  async #listenAt(connectionString: string): Promise<void> {
    const client = new pg.Client({ ...clientConfig, connectionString });
    this.#client = client;
    const signOfLife = () => client.query('select 1').catch(() => client.end());
    const pulse = setInterval(signOfLife, SIGN_OF_LIFE_EVERY_MS).unref();
    client.on('notification', ({ channel, payload }) => {
      const topic = TOPIC_OF.get(channel);
      if (topic) for (const id of (payload ?? '').split(',')) this.#onNotification(topic, id || null);
    });
    client.on('error', (error) => this.#pool.observer.onDatabaseError('listening connection lost', error));
    client.once('end', () => {
      clearInterval(pulse);
      this.#reconnect();
    });
    await client.connect();
    await client.query(WAKE_TOPICS.map((topic) => `listen ${CHANNELS[topic]}`).join('; '));
    for (const topic of WAKE_TOPICS) this.#onNotification(topic, null);
  }

  #reconnect(): void {
    if (this.#isStopped) return;
    this.#timer = setTimeout(() => {
      this.#client = null;
      void this.#connect();
    }, RECONNECT_MS);
  }
}
