import type { Readable } from 'node:stream';
import { listEnvelope, type Page } from '../../contract/common.ts';
import type { Context } from '../context.ts';
import { describeError } from '../describe-error.ts';
import { ReaderGone, streamOf } from './page-stream.ts';
import { longestText, type Sized, SLICE_BYTES, type Slice, slicesOf } from './row-size.ts';
import type { LargeAnswer } from './turns.ts';

/** The rows of a list, and how they are shown. */
export interface ListSource<Row, Item, Key> {
  /** The list's name in the log. */
  name: string;
  view(row: Row): Item;
  keyOf(row: Row): Key;
  /** Rows with all of their texts, in any order. Deleted rows may be missing. */
  readWhole(keys: Key[]): Promise<Row[]>;
}

export interface FoundPage<Row> {
  rows: Sized<Row>[];
  total: number;
}

/** The total, where the page is the last one and so tells it. */
export const toldByLastPage = ({ page, limit }: Page, rows: number): number | null =>
  rows < limit && (rows > 0 || page === 1) ? (page - 1) * limit + rows : null;

export type PageAnswer<Item> = ReturnType<typeof listEnvelope<Item>> | Readable;

/** Answers a page: a small one at once, a large one as a stream of JSON that is read slice by slice. */
export const answerPage = async <Row extends object, Item, Key>(
  ctx: Context,
  shopId: string,
  source: ListSource<Row, Item, Key>,
  { rows, total }: FoundPage<Row>,
  page: Page,
): Promise<PageAnswer<Item>> => {
  if (isSmall(rows, page.limit)) return listEnvelope(viewAll(ctx, source, rows), total, page);
  const answer = ctx.beginLargeAnswer(shopId);
  try {
    const slices = slicesOf(rows, page.limit, source.keyOf);
    if (slices.length > 1)
      return await streamPage(ctx, source, answer, slices, listEnvelope([], total, page));
    const items = await answer.slice(() => itemsOf(ctx, source, slices[0] as Slice<Row, Key>));
    answer.end();
    return listEnvelope(items, total, page);
  } catch (error) {
    answer.end();
    throw error;
  }
};

const isSmall = (rows: readonly Sized<unknown>[], limit: number): boolean => {
  const longest = longestText(limit);
  let bytes = 0;
  for (const row of rows) {
    if (row.bytes > longest) return false;
    bytes += row.bytes;
  }
  return bytes <= SLICE_BYTES;
};

/** A row that cannot be shown is left out and logged; the others are shown. */
export const viewAll = <Row extends object, Item, Key>(
  { log }: Pick<Context, 'log'>,
  { name, view, keyOf }: Pick<ListSource<Row, Item, Key>, 'name' | 'view' | 'keyOf'>,
  rows: readonly Row[],
): Item[] => {
  const items: Item[] = [];
  for (const row of rows) {
    try {
      items.push(view(row));
    } catch (error) {
      log.error(
        { list: name, key: keyOf(row), fault: describeError(error) },
        'left out a row that cannot be read',
      );
    }
  }
  return items;
};

const itemsOf = async <Row extends object, Item, Key>(
  ctx: Context,
  source: ListSource<Row, Item, Key>,
  { keys, whole, missing }: Slice<Row, Key>,
): Promise<Item[]> => {
  const read = missing.length > 0 ? await source.readWhole(missing) : [];
  const found = new Map([...whole, ...read].map((row) => [source.keyOf(row), row]));
  return viewAll(
    ctx,
    source,
    keys.flatMap((key) => found.get(key) ?? []),
  );
};

/** Streams the same text as the envelope with all of its items. The first piece is ready before anything is sent. */
const streamPage = async <Row extends object, Item, Key>(
  ctx: Context,
  source: ListSource<Row, Item, Key>,
  answer: LargeAnswer,
  slices: Slice<Row, Key>[],
  { items: _, ...rest }: ReturnType<typeof listEnvelope<Item>>,
): Promise<Readable> => {
  let isOver = false;
  let separator = '';
  const write = (items: Item[]): string => {
    if (items.length === 0) return '';
    const text = separator + JSON.stringify(items).slice(1, -1);
    separator = ',';
    return text;
  };
  const next = async (head: string): Promise<Buffer | null> => {
    const slice = slices.shift();
    if (!slice) return null;
    return answer.slice(async () => {
      // The reader hung up while this slice waited: read nothing for them.
      if (isOver) return null;
      const text = write(await itemsOf(ctx, source, slice));
      const tail = slices.length === 0 ? `],${JSON.stringify(rest).slice(1)}` : '';
      return Buffer.from(head + text + tail);
    });
  };
  const first = (await next('{"items":[')) as Buffer;
  return streamOf(first, {
    next: () => next(''),
    end() {
      isOver = true;
      answer.end();
    },
    onBroken(error) {
      if (error instanceof ReaderGone)
        ctx.log.info({ list: source.name }, 'gave up a reader who takes nothing');
      else ctx.log.error({ list: source.name, fault: describeError(error) }, 'broke off a large answer');
    },
  });
};
