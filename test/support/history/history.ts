import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'vitest';
import { OFFLINE_REPAIR_MOVES, type OfflineRepairAction } from '../../../contract/lifecycle.ts';
import type { Db } from '../../../src/db/database.ts';
import { repairBody, tradeBody } from '../bodies.ts';
import { type Answer, NoAnswer } from '../http.ts';
import type { Random } from '../random.ts';
import { type Behaviour, startReceiver, type TestReceiver } from '../receiver.ts';
import { until } from '../until.ts';
import { check } from './check.ts';
import { type Kept, readKept } from './kept.ts';

// What callers, receivers and readers of the feed saw of the service, from outside, for check.ts to judge.

interface Creation {
  clientId: string;
  /** Its Idempotency-Key, if it was sent with one. */
  key: string | null;
  id: string;
  rmaNumber: string;
  answer: string;
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
  /** What the receiver answered; null where it did not. */
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

export const newHistory = (): History => ({ keys: [], creations: [], moves: [], receipts: [], feeds: [] });

export const noteCreation = (
  history: History,
  { clientId, key = null }: { clientId: string; key?: string | null },
  { status, body }: Answer,
): void => {
  if (status !== 201) return;
  history.creations.push({
    clientId,
    key,
    id: body.id,
    rmaNumber: body.rmaNumber,
    answer: JSON.stringify(body),
  });
};

export const noteMove = (history: History, event: string, { status, body }: Answer): void => {
  if (status === 200) history.moves.push({ rmaId: body.id, event, timestamp: body.updatedAt });
};

/** A receiver whose requests go into the history. It acknowledges them unless told otherwise. */
export const startNotingReceiver = (
  history: History,
  behave: Behaviour = () => 200,
): Promise<TestReceiver> => {
  return startReceiver((n, response, received) => {
    const status = behave(n, response, received);
    history.receipts.push({
      id: String(received.headers['x-webhook-id']),
      attempt: Number(received.headers['x-webhook-attempt']),
      bytes: received.bytes.toString('utf8'),
      status: status ?? null,
      at: received.at,
    });
    return status;
  });
};

// Programs of a shop that create and move returns, and note in the history what they were answered.

type Send = (path: string, body: object, headers?: Record<string, string>) => Promise<Answer>;

interface Caller {
  history: History;
  clientId: string;
  send: Send;
  random: Random;
  /** Begins its keys and references. */
  name: string;
  isOver(): boolean;
  /** Told of every answer that is neither a success nor a refusal that the caller counts on. */
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

/** What a caller counts on: done, still under way, or the allowance is used up. */
const COUNTED_ON = [200, 201, 409, 403];

/** The answer; null where there was none, or none of use: whether the request was carried out is not known, and not promised. */
const answerTo = async (
  { send, onFailure }: Caller,
  ...request: Parameters<Send>
): Promise<Answer | null> => {
  try {
    const answer = await send(...request);
    if (COUNTED_ON.includes(answer.status)) return answer;
    onFailure(answer.status, request[0]);
  } catch (error) {
    if (!(error instanceof NoAnswer)) throw error;
  }
  await pause(AGAIN_AFTER_MS);
  return null;
};

/** Sends the same creation with the same key until it is acknowledged, and now and then once more. */
const createSafely = async (caller: Caller, path: string, body: object, key: string): Promise<Answer> => {
  const { history, clientId, random } = caller;
  history.keys.push({ clientId, key });
  for (let wanted = random.percent(PERCENT.sentAgain) ? 2 : 1; ; ) {
    const answer = await answerTo(caller, path, body, { 'idempotency-key': key });
    // 409: the first one is still under way.
    if (!answer || answer.status === 409) continue;
    noteCreation(history, { clientId, key }, answer);
    wanted -= 1;
    if (wanted === 0 || answer.status !== 201) return answer;
  }
};

const create = async (caller: Caller, i: number): Promise<Answer | null> => {
  const { history, clientId, random, name } = caller;
  const externalRef = `${name}-${i}`;
  const [path, body] = random.percent(PERCENT.trade)
    ? ['/trade-returns', tradeBody({ externalRef })]
    : ['/offline-repairs', repairBody({ externalRef })];
  if (random.percent(PERCENT.keyed)) return createSafely(caller, path, body, externalRef);
  const answer = await answerTo(caller, path, body);
  if (answer) noteCreation(history, { clientId }, answer);
  return answer;
};

const moveOn = async (caller: Caller, id: string): Promise<void> => {
  while (caller.random.percent(PERCENT.moved)) {
    const [action, body] = caller.random.pick(MOVES);
    const answer = await answerTo(caller, `/offline-repairs/${id}/${action}`, body);
    if (!answer) return;
    noteMove(caller.history, OFFLINE_REPAIR_MOVES[action].event, answer);
  }
};

/** Creates returns and moves repairs on, until it is told to stop or the shop's allowance is used up. */
export const work = async (caller: Caller): Promise<void> => {
  for (let i = 0; !caller.isOver(); i++) {
    const created = await create(caller, i);
    if (!created) continue;
    const { status, body } = created;
    if (status === 403) return;
    if (body.orderNumber !== undefined) await moveOn(caller, body.id);
  }
};

interface Follower {
  history: History;
  shopId: string;
  get(path: string): Promise<Answer>;
  limit: number;
  isOver(): boolean;
}

/** Follows the feed as the guide says, until nothing more is written and it has read everything. */
export const follow = async ({ history, shopId, get, limit, isOver }: Follower): Promise<void> => {
  const items: FeedItem[] = [];
  for (let after = ''; ; ) {
    const wasOver = isOver();
    const query = new URLSearchParams({ limit: String(limit), wait: '1', ...(after ? { after } : {}) });
    const { status, body } = await get(`/events?${query}`);
    if (status !== 200) throw new Error(`the feed answered ${status}`);
    items.push(...body.items);
    after = body.cursor;
    if (wasOver && body.items.length === 0) break;
  }
  history.feeds.push({ shopId, items });
};

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

/** A run that went wrong has thousands of faults; the first ones tell enough. */
const SHOWN = 20;

/**
 * Fails where the history has a fault. Call it when nothing is written any more and no delivery waits (`nothingWaits`); returns what
 * the database holds.
 */
export const judged = async (history: History, db: Db): Promise<Kept> => {
  const kept = await readKept(db);
  expect(check(history, kept).slice(0, SHOWN)).toEqual([]);
  return kept;
};
