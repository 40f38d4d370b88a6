import { EventEmitter } from 'node:events';
import pg from 'pg';
import { parseAddress } from '../../service/config.ts';
import { REPLACED } from '../database-errors.ts';

// DATABASE_URL may name several servers. Which of them is used, by every connection of this process (ADR 0019).

const ANSWER_TIMEOUT_MS = 1_500;

class TakesNoWrites extends Error {
  readonly code = '25006';
  readonly severity = 'ERROR';
}

/** With what each of them said, in `errors`. */
class NoHost extends AggregateError {
  readonly code = '08001';
  readonly severity = 'ERROR';
}

interface Candidate {
  url: string;
  /** Grows with each promotion: of two servers that take writes, the one with the lower timeline has been replaced. */
  timeline: string;
}

/** Emits `move` when another server is in use, or none of those before. */
export class Hosts extends EventEmitter<{ move: [] }> {
  readonly #urls: readonly string[];
  readonly #mustTakeWrites: boolean;
  #url: string;
  #era = 0;
  #isKnown: boolean;
  #newestTimeline = '';
  #search: Promise<void> | null = null;

  constructor(address: string) {
    super();
    const { urls, mustTakeWrites } = parseAddress(address);
    this.#urls = urls;
    this.#mustTakeWrites = mustTakeWrites;
    this.#url = urls[0];
    this.#isKnown = this.#isAlone;
  }

  get url(): string {
    return this.#url;
  }

  /** Counts the servers that were in use: connections of an earlier era must not be used any more. */
  get era(): number {
    return this.#era;
  }

  /** Connects to the one in use. Where that is unknown, or a connection to it failed, looks for it first. */
  async connect<Value>(open: (url: string) => Promise<Value>): Promise<Value> {
    if (!this.#isKnown) {
      this.#search ??= this.#find().finally(() => {
        this.#search = null;
      });
      await this.#search;
    }
    const tried = this.#url;
    try {
      return await open(tried);
    } catch (error) {
      if (tried === this.#url) this.#isKnown = this.#isAlone;
      throw error;
    }
  }

  /** Throws unless the server behind this connection will do. `readOnly` is what `show transaction_read_only` says there. */
  accept(readOnly: string | undefined): void {
    if (this.#mustTakeWrites && readOnly !== 'off') throw new TakesNoWrites('the server takes no writes');
  }

  refused(era: number): void {
    if (!this.#mustTakeWrites || era !== this.#era) return;
    this.#isKnown = this.#isAlone;
    this.#move();
  }

  get #isAlone(): boolean {
    return this.#urls.length === 1;
  }

  #move(): void {
    this.#era += 1;
    this.emit('move');
  }

  /** Asks all of them at once, and takes the one that was promoted last; of equals the one in use, or the first. */
  async #find(): Promise<void> {
    const preferred = [this.#url, ...this.#urls.filter((url) => url !== this.#url)];
    const answers = await Promise.allSettled(preferred.map((url) => this.#ask(url)));
    const [first, ...others] = answers.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []));
    if (!first) {
      const errors = answers.map((each) => (each.status === 'rejected' ? each.reason : null));
      throw new NoHost(errors, 'no host takes writes');
    }
    const best = others.reduce((kept, next) => (next.timeline > kept.timeline ? next : kept), first);
    this.#newestTimeline = best.timeline;
    this.#isKnown = true;
    if (best.url === this.#url) return;
    this.#url = best.url;
    this.#move();
  }

  async #ask(url: string): Promise<Candidate> {
    return withClient(url, ANSWER_TIMEOUT_MS, async (client) => {
      if (!this.#mustTakeWrites) return { url, timeline: '' };
      const { rows } = await client.query<{ read_only: string; timeline: string | null }>(
        `select current_setting('transaction_read_only') as read_only,
           case when not pg_is_in_recovery() then left(pg_walfile_name(pg_current_wal_lsn()), 8) end as timeline`,
      );
      this.accept(rows[0]?.read_only);
      const timeline = rows[0]?.timeline ?? '';
      if (timeline < this.#newestTimeline) throw new TakesNoWrites(REPLACED);
      return { url, timeline };
    });
  }
}

/** On a connection outside of the pools, for a question or two. */
export const withClient = async <Result>(
  connectionString: string,
  timeoutMs: number,
  work: (client: pg.Client) => Promise<Result>,
): Promise<Result> => {
  const client = new pg.Client({
    connectionString,
    connectionTimeoutMillis: timeoutMs,
    query_timeout: timeoutMs,
    application_name: 'handback',
  });
  // The statement in progress fails with it; without a listener the event would end the process.
  client.on('error', () => {});
  try {
    await client.connect();
    return await work(client);
  } finally {
    // Not used any more, whether it ends in good order or not.
    client.end().catch(() => {});
  }
};
