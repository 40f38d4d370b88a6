import type { Socket } from 'node:net';
import pg from 'pg';
import { isStalePlan } from '../errors.ts';
import type { Hosts } from './hosts.ts';

const NAMED_STATEMENTS = 500;
/** In a statement's text: its plan depends on the values and is not to be kept. */
export const PLANNED_ANEW = '/* planned anew */';
/** A connection that has not answered for this long is asked for a sign of life before it is used. */
const UNHEARD_MS = 1_000;
/** How long it has for that. */
const SIGN_OF_LIFE_MS = 1_000;

const IN_FAILED_TRANSACTION = '25P02';
const READ_ONLY = '25006';

const names = new Map<string, string>();
let named = 0;
const nameOf = (text: string): string | undefined => {
  const known = names.get(text);
  if (known) return known;
  if (names.size >= NAMED_STATEMENTS) return undefined;
  named += 1;
  const name = `handback_${named}`;
  names.set(text, name);
  return name;
};

const INT8 = 20;
/** Our 64-bit numbers are counts and milliseconds, all far below 2^53. */
const getTypeParser: typeof pg.types.getTypeParser = (oid: number, format?: 'text' | 'binary') =>
  oid === INT8 ? Number : pg.types.getTypeParser(oid, format as 'text');

export interface ClientSettings {
  hosts: Hosts;
  connectTimeoutMs: number;
  queryTimeoutMs: number;
}

/** What every connection of ours has in common. */
export const clientConfig = ({ hosts, connectTimeoutMs, queryTimeoutMs }: ClientSettings) => ({
  hosts,
  types: { getTypeParser },
  connectionTimeoutMillis: connectTimeoutMs,
  query_timeout: queryTimeoutMs,
  application_name: 'handback',
  // So that a firewall between us does not forget a connection, and we notice when the other side is gone.
  keepAlive: true,
  keepAliveInitialDelayMillis: 10_000,
  pipeline: true,
});

/**
 * Names each statement that has parameters, so that a connection parses and plans it once. Sends what is asked for in one turn
 * of the event loop as one packet. Connects to the host that is in use when it is made.
 */
export class PreparingClient extends pg.Client {
  #corked = false;
  #heardAt = performance.now();
  #underWay = 0;
  /** Why the server refuses the rest of a transaction. */
  #abortedBy: unknown = null;

  readonly #hosts: Hosts;
  readonly #era: number;

  constructor({ hosts, ...config }: pg.ClientConfig & { hosts: Hosts }) {
    super({ ...config, connectionString: hosts.url });
    this.#hosts = hosts;
    this.#era = hosts.era;
    // Whoever waits for an answer is told, and the pool listens for itself. Without any listener the
    // event would end the process.
    this.on('error', () => {});
  }

  // biome-ignore lint/suspicious/noExplicitAny: pg's overloads of query cannot be restated; what goes through is unchanged
  override query(...args: any[]): any {
    this.#cork();
    const [text, values, ...rest] = args;
    const isNamed =
      typeof text === 'string' && Array.isArray(values) && values.length > 0 && !text.includes(PLANNED_ANEW);
    const request = isNamed ? [{ text, values, name: nameOf(text) }, ...rest] : args;
    // biome-ignore lint/suspicious/noExplicitAny: as above
    const result = (super.query as any)(...request);
    if (typeof result?.then !== 'function') return result;
    this.#underWay += 1;
    return result.then(this.#heard, this.#failed(args));
  }

  /** Milliseconds since anything came from the server. */
  get silentMs(): number {
    return performance.now() - this.#heardAt;
  }

  /** Whether it lay idle for so long that it must be asked for a sign of life before it is used. */
  get isSilent(): boolean {
    return this.#underWay === 0 && this.silentMs >= UNHEARD_MS;
  }

  /** Whether another server is in use by now. */
  get isOutdated(): boolean {
    return this.#era !== this.#hosts.era;
  }

  /** Whether the server is still there; asked only where that is in doubt. */
  async isAlive(): Promise<boolean> {
    if (!this.isSilent) return true;
    let timer: NodeJS.Timeout | undefined;
    const tooLate = new Promise<boolean>((resolve) => {
      // After a busy time of this process the answer may be there already, but unread: it gets one turn more.
      timer = setTimeout(() => setImmediate(resolve, false), SIGN_OF_LIFE_MS);
    });
    // A connection that is broken says so here; the caller takes another.
    const answered = this.query('select 1').then(
      () => true,
      () => false,
    );
    return Promise.race([answered, tooLate]).finally(() => clearTimeout(timer));
  }

  /** At once, without a goodbye that a dead server would never hear. */
  destroy(): void {
    this.#stream.destroy();
  }

  readonly #heard = <Answer>(answer: Answer): Answer => {
    this.#underWay -= 1;
    this.#heardAt = performance.now();
    return answer;
  };

  readonly #failed = (args: unknown[]) => (error: { code?: string }) => {
    this.#underWay -= 1;
    // An error with a code came from the server.
    if (error.code) this.#heardAt = performance.now();
    // Statements that were sent together fail together: each tells the reason, whichever is heard first.
    if (error.code === IN_FAILED_TRANSACTION) throw this.#abortedBy ?? error;
    this.#abortedBy = error;
    if (error.code === READ_ONLY) this.#hosts.refused(this.#era);
    if (!isStalePlan(error)) throw error;
    names.delete(args[0] as string);
    // Inside a transaction all of it must be tried again, by whoever began it.
    if (this.getTransactionStatus() !== 'I') throw error;
    return this.query(...args);
  };

  get #stream(): Socket {
    return (this as unknown as { connection: { stream: Socket } }).connection.stream;
  }

  #cork(): void {
    const stream = this.#stream;
    if (this.#corked || !stream.writable) return;
    this.#corked = true;
    stream.cork();
    process.nextTick(() => {
      this.#corked = false;
      stream.uncork();
    });
  }
}
