import { Worker } from 'node:worker_threads';
import Sqlite from 'better-sqlite3';
import { QueueTimeout } from '../../lib/batch.ts';
import { BoundedQueue } from '../../lib/bounded-queue.ts';
import type { Observer } from '../types.ts';
import type { Reply, ThreadQuery } from './reader-thread.ts';

/** A shop whose API clients read many rows holds at most one thread (`paging/heavy-lists.ts`). The second one serves the others. */
const THREADS = 2;
/** It is shorter than the deadline of 4.5 s; more reads could not run in this time. */
const READ_WAIT_MS = 4000;
const WAITING = 200;

const THREAD = import.meta.url.endsWith('.ts') ? './reader-thread.ts' : './reader-thread.js';

const THREAD_ENDED: Reply = { failed: { message: 'the reader thread ended', code: 'SQLITE_ABORT' } };

/** A worker thread with one connection, which runs one statement at a time. */
class ReaderThread {
  readonly #worker: Worker;
  #resolve: ((reply: Reply) => void) | null = null;
  hasEnded = false;

  constructor(file: string, onDatabaseError: Observer['onDatabaseError']) {
    this.#worker = new Worker(new URL(THREAD, import.meta.url), { workerData: file });
    // A command that does not close the database must still be able to end.
    this.#worker.unref();
    this.#worker.on('message', (reply) => this.#resolve?.(reply));
    this.#worker.on('error', (error) => onDatabaseError('reader thread failed', error));
    this.#worker.on('exit', () => {
      this.hasEnded = true;
      this.#resolve?.(THREAD_ENDED);
    });
  }

  ask(query: ThreadQuery): Promise<Reply> {
    const { promise, resolve } = Promise.withResolvers<Reply>();
    this.#resolve = resolve;
    this.#worker.postMessage(query);
    return promise;
  }

  /** Resolves after the current statement. */
  async end(): Promise<void> {
    if (this.hasEnded) return;
    this.#worker.ref();
    this.#worker.postMessage('close');
    await new Promise((resolve) => this.#worker.once('exit', resolve));
  }
}

/** Runs reads in worker threads: a search reads a million texts in about 200 ms, during which SQLite would block the event loop. */
export class HeavyReads {
  readonly #file: string;
  readonly #onDatabaseError: Observer['onDatabaseError'];
  readonly #queue = new BoundedQueue({
    atOnce: THREADS,
    waiting: WAITING,
    withinMs: READ_WAIT_MS,
    refusal: () => new QueueTimeout('too many reads of many rows'),
  });
  readonly #idle: ReaderThread[] = [];
  #threads: ReaderThread[] = [];
  #isClosed = false;

  constructor(file: string, onDatabaseError: Observer['onDatabaseError']) {
    this.#file = file;
    this.#onDatabaseError = onDatabaseError;
  }

  run(query: ThreadQuery): Promise<unknown[]> {
    return this.#queue.run(async () => {
      if (this.#isClosed) throw new Sqlite.SqliteError('the database is closed', 'SQLITE_MISUSE');
      const thread = this.#takeIdle() ?? this.#start();
      const reply = await thread.ask(query);
      if (this.#threads.includes(thread)) this.#idle.push(thread);
      if ('rows' in reply) return reply.rows;
      throw new Sqlite.SqliteError(reply.failed.message, reply.failed.code);
    });
  }

  /** Ends the threads permanently, after their current statements. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.endThreads();
  }

  /** Ends the threads. The next read starts a new one. */
  async endThreads(): Promise<void> {
    const threads = this.#threads;
    this.#threads = [];
    this.#idle.length = 0;
    await Promise.all(threads.map((thread) => thread.end()));
  }

  #takeIdle(): ReaderThread | undefined {
    const thread = this.#idle.pop();
    if (!thread?.hasEnded) return thread;
    this.#threads = this.#threads.filter((each) => each !== thread);
    return this.#takeIdle();
  }

  #start(): ReaderThread {
    const thread = new ReaderThread(this.#file, this.#onDatabaseError);
    this.#threads.push(thread);
    return thread;
  }
}
