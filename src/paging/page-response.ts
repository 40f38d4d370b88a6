import { Readable } from 'node:stream';
import type { Logger } from 'pino';
import { listEnvelope, type Page } from '../../contract/common.ts';
import { BoundedQueue } from '../lib/bounded-queue.ts';
import { ServiceError } from '../platform/errors.ts';
import { describeError } from '../platform/log.ts';

// A page of up to 256 kB is sent at once. A larger one is a stream: the next chunk of rows is read when the client has read the last one.

/** Up to this limit a page's statement reads full rows. Above it, it reads only their keys, and the rows follow in chunks. */
export const MAX_FULL_ROWS = 50;
/** The size of a chunk, which is what each client holds in memory, however slowly it reads. */
export const CHUNK_BYTES = 256 * 1024;
/** The number of rows in the first chunk of a long page, and the maximum if rows are small. */
const CHUNK_ROWS = { first: 5, most: 100 } as const;
const MOST_OPEN = { perShop: 100, total: 400 } as const;
/** A chunk that waits longer for a slot fails. It is below the deadline of a request, so that the first chunk can be a 503. */
const SLOT_WAIT_MS = 3_500;
/**
 * After a chunk of t ms its slot stays taken for 8·t, at most 200 ms: large pages get a fifth of the process, and other requests
 * the rest.
 */
const SLOT_REST = { times: 8, mostMs: 200 } as const;

/** The log identifies a row by its id. */
type Listed = { id: string };

interface ListSource<Row, Item, Key> {
  name: string;
  view(row: Row): Item;
  keyOf(row: Row): Key;
  /** The rows may have any order, and deleted ones may be missing. */
  readRows(keys: Key[]): Promise<Row[]>;
}

/** The first rows of a page, and the keys of the rows that are not read yet. */
interface FoundPage<Row, Key> {
  rows: Row[];
  keys: Key[];
  total: number;
}

/** The total, if it follows from this page being the last. */
export const totalOfLastPage = ({ page, limit }: Page, rows: number): number | null =>
  rows < limit && (rows > 0 || page === 1) ? (page - 1) * limit + rows : null;

/** A page as JSON. `items` only exists as a type: that of the JSON. */
export interface PageResponse<Item> {
  body: string | Readable;
  items?: Item[];
}

/** Skips and logs a damaged row, so that the others are shown. */
export const viewRow = <Row extends Listed, Item>(
  { log }: { log: Logger },
  { name, view }: { name: string; view(row: Row): Item },
  row: Row,
): Item | undefined => {
  try {
    return view(row);
  } catch (error) {
    log.error({ list: name, key: row.id, error: describeError(error) }, 'skipped a row that cannot be read');
    return undefined;
  }
};

class Chunks<Row extends Listed, Item, Key> {
  readonly #pages: PageResponses;
  readonly #source: ListSource<Row, Item, Key>;
  readonly #keys: Key[];
  #atOnce: number;

  constructor(pages: PageResponses, source: ListSource<Row, Item, Key>, keys: Key[]) {
    this.#pages = pages;
    this.#source = source;
    this.#keys = keys;
    this.#atOnce = keys.length <= MAX_FULL_ROWS ? MAX_FULL_ROWS : CHUNK_ROWS.first;
  }

  get isOver(): boolean {
    return this.#keys.length === 0;
  }

  readInSlot(): Promise<string> {
    return this.#pages.inSlot(() => this.read());
  }

  async read(): Promise<string> {
    const keys = this.#keys.splice(0, this.#atOnce);
    const found = new Map((await this.#source.readRows(keys)).map((row) => [this.#source.keyOf(row), row]));
    return this.write(keys.flatMap((key) => found.get(key) ?? []));
  }

  /** Serialises items, each after a comma. Rows that do not fit are read again later instead of waiting in memory for a slow client. */
  write(rows: Row[]): string {
    let text = '';
    let used = 0;
    for (const row of rows) {
      if (text.length >= CHUNK_BYTES) break;
      const item = viewRow(this.#pages, this.#source, row);
      if (item !== undefined) text += `,${JSON.stringify(item)}`;
      used += 1;
    }
    this.#keys.unshift(...rows.slice(used).map(this.#source.keyOf));
    const fitting = Math.floor((used * CHUNK_BYTES) / Math.max(1, text.length));
    this.#atOnce = Math.min(Math.max(1, fitting), CHUNK_ROWS.most);
    return text;
  }

  async *stream(head: string[], tail: string): AsyncGenerator<Buffer> {
    try {
      // No variable references the chunk, which would otherwise be in memory twice until a slow client has read it.
      yield Buffer.from(head.pop() ?? '');
      while (!this.isOver) yield Buffer.from(await this.readInSlot());
      yield Buffer.from(tail);
    } catch (error) {
      this.#pages.log.error(
        { list: this.#source.name, error: describeError(error) },
        'aborted a large response',
      );
      // This ends the connection, so that an aborted response does not look complete. Fastify logs the message, which must not quote data.
      throw new Error('the response was aborted');
    }
  }
}

const busy = () => new ServiceError('SERVICE_UNAVAILABLE');

/** Builds the responses of lists. A process reads two chunks at a time and limits the number of streams. */
export class PageResponses {
  readonly log: Logger;
  readonly #streams = new Set<{ shopId: string }>();
  readonly #slots = new BoundedQueue({
    atOnce: 2,
    waiting: MOST_OPEN.total,
    withinMs: SLOT_WAIT_MS,
    refusal: busy,
  });

  constructor({ log }: { log: Logger }) {
    this.log = log;
  }

  /** Returns a small page as text and a large one as a stream. The first chunk is read before anything is sent. */
  async build<Row extends Listed, Item, Key>(
    shopId: string,
    source: ListSource<Row, Item, Key>,
    found: FoundPage<Row, Key>,
    page: Page,
  ): Promise<PageResponse<Item>> {
    const { items: _, ...rest } = listEnvelope([], found.total, page);
    const tail = `],${JSON.stringify(rest).slice(1)}`;
    const chunks = new Chunks(this, source, found.keys);
    let first = found.rows.length > 0 ? chunks.write(found.rows) : '';
    // The first rows do not wait for a slot, since most pages have no more.
    while (!chunks.isOver && first.length < CHUNK_BYTES)
      first += await (first === '' ? chunks.read() : chunks.readInSlot());
    const head = `{"items":[${first.slice(1)}`;
    if (chunks.isOver) return { body: head + tail };
    const end = this.begin(shopId);
    return { body: Readable.from(chunks.stream([head], tail), { objectMode: false }).once('close', end) };
  }

  async inSlot<Result>(work: () => Promise<Result>): Promise<Result> {
    const release = await this.#slots.take();
    const startMs = performance.now();
    try {
      return await work();
    } finally {
      setTimeout(release, Math.min((performance.now() - startMs) * SLOT_REST.times, SLOT_REST.mostMs));
    }
  }

  /** Counts a stream until the function that it returns is called. */
  begin(shopId: string): () => void {
    const own = [...this.#streams].filter((each) => each.shopId === shopId).length;
    if (own >= MOST_OPEN.perShop || this.#streams.size >= MOST_OPEN.total) throw busy();
    const stream = { shopId };
    this.#streams.add(stream);
    return () => void this.#streams.delete(stream);
  }
}
