import type { Answer } from '../http.ts';
import { type Behaviour, startReceiver, type TestReceiver } from '../receiver.ts';

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

/** Requests that brought what had come before, in the same attempt: a process died before it could write down the first. */
export const duplicatesIn = ({ receipts }: History): { first: Receipt; again: Receipt }[] => {
  const seen = new Map<string, Receipt>();
  const found: { first: Receipt; again: Receipt }[] = [];
  for (const receipt of receipts) {
    const name = `${receipt.id} ${receipt.attempt}`;
    const first = seen.get(name);
    if (first) found.push({ first, again: receipt });
    else seen.set(name, receipt);
  }
  return found;
};
