import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'vitest';
import { OFFLINE_REPAIR_MOVES, type OfflineRepairAction } from '../../../contract/lifecycle.ts';
import type { Db } from '../../../src/db/types.ts';
import { repairBody, tradeBody } from '../bodies.ts';
import { type ApiResponse, NoResponse } from '../http.ts';
import type { Random } from '../random.ts';
import { type Behaviour, startReceiver, type TestReceiver } from '../receiver.ts';
import { untilEnded } from '../responses.ts';
import { until } from '../until.ts';
import { check } from './check.ts';
import { type Kept, readKept } from './kept.ts';

// What callers, receivers and readers of the feed saw of the service; check.ts judges it.

interface Creation {
  clientId: string;
  /** Its Idempotency-Key, if it was sent with one. */
  key: string | null;
  id: string;
  rmaNumber: string;
  response: string;
}

interface Move {
  rmaId: string;
  event: string;
  timestamp: string;
}

export interface Receipt {
  id: string;
  attempt: number;
  bytes: string;
  /** The receiver's status; null if there was no response. */
  status: number | null;
  at: number;
}

export interface FeedItem {
  id: string;
  event: string;
  timestamp: string;
  data: Record<string, unknown>;
}

/** What a follower read of the feed, from its beginning to its end. */
export interface FeedRead {
  shopId: string;
  items: FeedItem[];
}

export interface History {
  /** Every use of an Idempotency-Key, answered or not. Its creations carry the key as their `externalRef` too. */
  keys: { clientId: string; key: string }[];
  creations: Creation[];
  moves: Move[];
  receipts: Receipt[];
  feeds: FeedRead[];
}

/** A run that went wrong has thousands of faults; the first ones tell enough. */
const SHOWN = 20;

/** A history that is written while a test runs. */
export class HistoryNotes implements History {
  readonly keys: History['keys'] = [];
  readonly creations: Creation[] = [];
  readonly moves: Move[] = [];
  readonly receipts: Receipt[] = [];
  readonly feeds: FeedRead[] = [];

  noteCreation(
    { clientId, key = null }: { clientId: string; key?: string | null },
    { status, body }: ApiResponse,
  ): void {
    if (status !== 201) return;
    const { id, rmaNumber } = body;
    this.creations.push({ clientId, key, id, rmaNumber, response: JSON.stringify(body) });
  }

  noteMove(event: string, { status, body }: ApiResponse): void {
    if (status === 200) this.moves.push({ rmaId: body.id, event, timestamp: body.updatedAt });
  }

  /** A receiver whose requests are noted. It acknowledges them unless told otherwise. */
  startReceiver(behave: Behaviour = () => 200): Promise<TestReceiver> {
    return startReceiver((n, response, received) => {
      const status = behave(n, response, received);
      this.receipts.push({
        id: String(received.headers['x-webhook-id']),
        attempt: Number(received.headers['x-webhook-attempt']),
        bytes: received.bytes.toString('utf8'),
        status: status ?? null,
        at: received.at,
      });
      return status;
    });
  }

  /** Follows the feed as the guide says. What it returns has it read to the end, once nothing more is written. */
  follow({ shopId, get, limit }: Follower): () => Promise<void> {
    const items: FeedItem[] = [];
    return untilEnded(async (isOver) => {
      for (let after = ''; ; ) {
        const wasOver = isOver();
        const query = new URLSearchParams({ limit: String(limit), wait: '1', ...(after ? { after } : {}) });
        const { status, body } = await get(`/events?${query}`);
        if (status !== 200) throw new Error(`the feed answered ${status}`);
        items.push(...body.items);
        after = body.cursor;
        if (wasOver && body.items.length === 0) break;
      }
      this.feeds.push({ shopId, items });
    });
  }

  /** Fails where there is a fault; returns what the database holds. Nothing may be written any more, and no delivery wait (`nothingWaits`). */
  async judged(db: Db): Promise<Kept> {
    const kept = await readKept(db);
    expect(check(this, kept).slice(0, SHOWN)).toEqual([]);
    return kept;
  }
}

interface Follower {
  shopId: string;
  get(path: string): Promise<ApiResponse>;
  limit: number;
}

// Programs of a shop that create and move returns, and note in the history what they were answered.

type Send = (path: string, body: object, headers?: Record<string, string>) => Promise<ApiResponse>;

interface Till {
  history: HistoryNotes;
  clientId: string;
  send: Send;
  random: Random;
  /** Begins its keys and references. */
  name: string;
  /** Told of every response that is neither a success nor a refusal that the caller counts on. */
  onFailure(status: number, path: string): void;
}

const MOVES: readonly [OfflineRepairAction, object][] = [
  ['tracking', { trackingNumber: 'T-1', carrierName: 'Parcel Post' }],
  ['begin-diagnostics', {}],
  ['begin-repair', { assignedToId: 'technician-4' }],
  ['resolve', { offlineDisposition: 'RESTOCK_MASTER' }],
  ['close', {}],
];

const PERCENT = { trade: 15, keyed: 50, sentAgain: 25, moved: 40 };
const AGAIN_AFTER_MS = 20;

/** What a caller counts on: done, still running, or the allowance is used up. */
const COUNTED_ON = [200, 201, 409, 403];

/** The response; null where there was none, or none of use: whether the request was carried out is not known, and not promised. */
const responseTo = async (
  { send, onFailure }: Till,
  ...request: Parameters<Send>
): Promise<ApiResponse | null> => {
  try {
    const response = await send(...request);
    if (COUNTED_ON.includes(response.status)) return response;
    onFailure(response.status, request[0]);
  } catch (error) {
    if (!(error instanceof NoResponse)) throw error;
  }
  await pause(AGAIN_AFTER_MS);
  return null;
};

/** Sends the same creation with the same key until it is acknowledged, and now and then once more. */
const createSafely = async (till: Till, path: string, body: object, key: string): Promise<ApiResponse> => {
  const { history, clientId, random } = till;
  history.keys.push({ clientId, key });
  for (let wanted = random.percent(PERCENT.sentAgain) ? 2 : 1; ; ) {
    const response = await responseTo(till, path, body, { 'idempotency-key': key });
    // 409: the first one is still running.
    if (!response || response.status === 409) continue;
    history.noteCreation({ clientId, key }, response);
    wanted -= 1;
    if (wanted === 0 || response.status !== 201) return response;
  }
};

const create = async (till: Till, i: number): Promise<ApiResponse | null> => {
  const { history, clientId, random, name } = till;
  const externalRef = `${name}-${i}`;
  const [path, body] = random.percent(PERCENT.trade)
    ? ['/trade-returns', tradeBody({ externalRef })]
    : ['/offline-repairs', repairBody({ externalRef })];
  if (random.percent(PERCENT.keyed)) return createSafely(till, path, body, externalRef);
  const response = await responseTo(till, path, body);
  if (response) history.noteCreation({ clientId }, response);
  return response;
};

const moveOn = async (till: Till, id: string): Promise<void> => {
  while (till.random.percent(PERCENT.moved)) {
    const [action, body] = till.random.pick(MOVES);
    const response = await responseTo(till, `/offline-repairs/${id}/${action}`, body);
    if (!response) return;
    till.history.noteMove(OFFLINE_REPAIR_MOVES[action].event, response);
  }
};

/** Creates returns and moves repairs on, until it is ended or the shop's allowance is used up. */
export const startTill = (till: Till): (() => Promise<void>) =>
  untilEnded(async (isOver) => {
    for (let i = 0; !isOver(); i++) {
      const created = await create(till, i);
      if (!created) continue;
      const { status, body } = created;
      if (status === 403) return;
      if (body.orderNumber !== undefined) await moveOn(till, body.id);
    }
  });

export const nothingWaits = async (db: Db, withinMs?: number): Promise<void> => {
  await until(
    'nothing waits any more',
    async () => {
      const waiting = await db
        .selectFrom('webhook_deliveries')
        .select('id')
        .where('status', '=', 'PENDING')
        .limit(1)
        .execute();
      return waiting.length === 0;
    },
    withinMs,
  );
};
