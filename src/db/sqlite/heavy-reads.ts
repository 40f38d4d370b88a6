import { Worker } from 'node:worker_threads';
import Sqlite from 'better-sqlite3';
import { QueueTimeout } from '../../lib/batch.ts';
import { BoundedQueue } from '../../lib/bounded-queue.ts';
import type { Observer } from '../database.ts';
import type { Answer, ThreadQuery } from './reader-thread.ts';

/** Less than the 4.5 s after which a request is refused anyway; more than so many cannot be done in that time. */
const WAIT_MS = 4000;
const WAITING = 200;

/** In the sources, or in what is built from them. */
const THREAD = import.meta.url.endsWith('.ts') ? './reader-thread.ts' : './reader-thread.js';

const ENDED: Answer = { failed: { message: 'the reader thread ended', code: 'SQLITE_ABORT' } };

/** In a thread: a search reads a million texts in about 200 ms, for which SQLite would block the event loop. */
export class HeavyReads {
  readonly #file: string;
  readonly #onDatabaseError: Observer['onDatabaseError'];
  readonly #queue = new BoundedQueue({
    atOnce: 1,
    waiting: WAITING,
    withinMs: WAIT_MS,
    refusal: () => new QueueTimeout('too many reads of many rows'),
  });
  #thread: Worker | null = null;
  #isClosed = false;
  /** The one read that runs, or the last one. */
  #asked: { thread: Worker; resolve(answer: Answer): void } | null = null;

  constructor(file: string, onDatabaseError: Observer['onDatabaseError']) {
    this.#file = file;
    this.#onDatabaseError = onDatabaseError;
  }

  run(query: ThreadQuery): Promise<unknown[]> {
    return this.#queue.run(async () => {
      if (this.#isClosed) throw new Sqlite.SqliteError('the database is closed', 'SQLITE_MISUSE');
      this.#thread ??= this.#start();
      const { promise, resolve } = Promise.withResolvers<Answer>();
      this.#asked = { thread: this.#thread, resolve };
      this.#thread.postMessage(query);
      const answer = await promise;
      if ('rows' in answer) return answer.rows;
      throw new Sqlite.SqliteError(answer.failed.message, answer.failed.code);
    });
  }

  /** Ends the thread for good, after the statement that it is at. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.endThread();
  }

  /** The next read starts another one. */
  async endThread(): Promise<void> {
    const thread = this.#thread;
    if (!thread) return;
    this.#thread = null;
    thread.ref();
    thread.postMessage('close');
    await new Promise((resolve) => thread.once('exit', resolve));
  }

  #start(): Worker {
    const thread = new Worker(new URL(THREAD, import.meta.url), { workerData: this.#file });
    // A command that does not close the database must end all the same.
    thread.unref();
    thread.on('message', (answer) => this.#asked?.resolve(answer));
    thread.on('error', (error) => this.#onDatabaseError('reader thread failed', error));
    thread.on('exit', () => {
      if (this.#thread === thread) this.#thread = null;
      // Another thread may have been asked since.
      if (this.#asked?.thread === thread) this.#asked.resolve(ENDED);
    });
    return thread;
  }
}
