import { Readable } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { listEnvelope, type Page } from '../../contract/common.ts';
import type { Context } from '../context.ts';
import { describeError } from '../describe-error.ts';
import { ServiceError } from '../errors.ts';
import { BoundedQueue } from '../lib/bounded-queue.ts';

// A page of up to 256 kB is one answer. A larger one is a stream: a chunk of rows is read when the client has taken the one before.

/** Up to this limit the page's statement reads whole rows; above it only their keys, and the rows follow in chunks. */
export const WHOLE_ROWS = 50;
/** How much of a page is sent at once: so much is held in memory for each client, however slowly it reads. */
export const CHUNK_BYTES = 256 * 1024;
/** How many rows are read at once: the first time, and where they turn out to be short. */
const CHUNK_ROWS = { first: 20, most: 100 } as const;
/** How many large answers may be open at once. */
const MOST_OPEN = { perShop: 100, total: 400 } as const;
/** A chunk that waits longer for its turn is refused. Below the deadline of a request, so that the first chunk can be a 503. */
const QUEUE_TIMEOUT_MS = 3_500;

const busy = () => new ServiceError('SERVICE_UNAVAILABLE');

/** Chunks are read and written two at a time in a process, and large answers are counted. */
export class LargeAnswers {
  readonly #open = new Map<string, number>();
  readonly #turns = new BoundedQueue({
    atOnce: 2,
    waiting: MOST_OPEN.total,
    withinMs: QUEUE_TIMEOUT_MS,
    refusal: busy,
  });

  chunk<Result>(work: () => Promise<Result>): Promise<Result> {
    return this.#turns.run(async () => {
      const result = await work();
      // On SQLite all of this runs without a pause: other requests go first.
      await nextTurn();
      return result;
    });
  }

  /** Counts an answer until the function that it returns is called. */
  begin(shopId: string): () => void {
    const own = this.#open.get(shopId) ?? 0;
    const total = [...this.#open.values()].reduce((sum, count) => sum + count, 0);
    if (own >= MOST_OPEN.perShop || total >= MOST_OPEN.total) throw busy();
    this.#open.set(shopId, own + 1);
    return () => {
      const others = (this.#open.get(shopId) ?? 0) - 1;
      if (others > 0) this.#open.set(shopId, others);
      else this.#open.delete(shopId);
    };
  }
}

/** Every row has an id, by which the log names it. */
interface Listed {
  id: string;
}

/** The rows of a list, and how they are shown. */
export interface ListSource<Row, Item, Key> {
  /** The list's name in the log. */
  name: string;
  view(row: Row): Item;
  keyOf(row: Row): Key;
  /** In any order. Deleted rows may be missing. */
  readRows(keys: Key[]): Promise<Row[]>;
}

/** A page as it was found: its first rows, and the keys of those that are not read yet. */
export interface FoundPage<Row, Key> {
  rows: Row[];
  keys: Key[];
  total: number;
}

/** The total, where the page is the last one and so tells it. */
export const totalOfLastPage = ({ page, limit }: Page, rows: number): number | null =>
  rows < limit && (rows > 0 || page === 1) ? (page - 1) * limit + rows : null;

/** A page as JSON. `items` is a type only: what the JSON holds. */
export interface PageAnswer<Item> {
  body: string | Readable;
  items?: Item[];
}

/** A row that cannot be shown is skipped and logged; the others are shown. */
export const viewRow = <Row extends Listed, Item>(
  { log }: Pick<Context, 'log'>,
  { name, view }: { name: string; view(row: Row): Item },
  row: Row,
): Item | undefined => {
  try {
    return view(row);
  } catch (error) {
    log.error({ list: name, key: row.id, fault: describeError(error) }, 'skipped a row that cannot be read');
    return undefined;
  }
};

/** What is left of a page, and how it is read. */
class Chunks<Row extends Listed, Item, Key> {
  readonly #ctx: Context;
  readonly #source: ListSource<Row, Item, Key>;
  #rows: Row[];
  #keys: Key[];
  #atOnce: number = CHUNK_ROWS.first;

  constructor(ctx: Context, source: ListSource<Row, Item, Key>, { rows, keys }: FoundPage<Row, Key>) {
    this.#ctx = ctx;
    this.#source = source;
    this.#rows = rows;
    this.#keys = keys;
  }

  get isOver(): boolean {
    return this.#rows.length + this.#keys.length === 0;
  }

  /** The next items as JSON, separated by commas. */
  async next(): Promise<string> {
    if (this.#rows.length > 0 || this.#keys.length === 0) return this.#write();
    return this.#ctx.largeAnswers.chunk(async () => {
      const keys = this.#keys.splice(0, this.#atOnce);
      const found = new Map((await this.#source.readRows(keys)).map((row) => [this.#source.keyOf(row), row]));
      this.#rows = keys.flatMap((key) => found.get(key) ?? []);
      return this.#write();
    });
  }

  /** Rows that do not fit are read again later: they do not wait in memory for a slow client. */
  #write(): string {
    const texts: string[] = [];
    let bytes = 0;
    let used = 0;
    while (used < this.#rows.length && bytes < CHUNK_BYTES) {
      const item = viewRow(this.#ctx, this.#source, this.#rows[used] as Row);
      used += 1;
      if (item === undefined) continue;
      const text = JSON.stringify(item);
      texts.push(text);
      bytes += text.length;
    }
    this.#keys.unshift(...this.#rows.slice(used).map(this.#source.keyOf));
    this.#rows = [];
    const fitting = Math.floor((used * CHUNK_BYTES) / Math.max(1, bytes));
    this.#atOnce = Math.min(Math.max(1, fitting), CHUNK_ROWS.most);
    return texts.join();
  }
}

/** Answers a page: a small one at once, a large one as a stream. The first chunk is read before anything is sent. */
export const answerPage = async <Row extends Listed, Item, Key>(
  ctx: Context,
  shopId: string,
  source: ListSource<Row, Item, Key>,
  found: FoundPage<Row, Key>,
  page: Page,
): Promise<PageAnswer<Item>> => {
  const { items: _, ...rest } = listEnvelope([], found.total, page);
  const tail = `],${JSON.stringify(rest).slice(1)}`;
  const chunks = new Chunks(ctx, source, found);
  const first = await chunks.next();
  if (chunks.isOver) return { body: `{"items":[${first}${tail}` };
  const end = ctx.largeAnswers.begin(shopId);
  const stream = Readable.from(textOf(ctx, source.name, chunks, first, tail), { objectMode: false });
  return { body: stream.once('close', end) };
};

async function* textOf<Row extends Listed, Item, Key>(
  { log }: Context,
  list: string,
  chunks: Chunks<Row, Item, Key>,
  first: string,
  tail: string,
): AsyncGenerator<Buffer> {
  try {
    yield Buffer.from(`{"items":[${first}`);
    let separator = first && ',';
    while (!chunks.isOver) {
      const text = await chunks.next();
      if (text) yield Buffer.from(separator + text);
      if (text) separator = ',';
    }
    yield Buffer.from(tail);
  } catch (error) {
    log.error({ list, fault: describeError(error) }, 'aborted a large answer');
    // Ends the connection, so that no aborted answer looks complete. Fastify logs the message, which must not quote data.
    throw new Error('the answer was aborted');
  }
}
