import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import type { z } from 'zod';
import type { FoundReturn } from '../../../contract/admin-search.ts';
import type { Timeline, TimelineEntry } from '../../../contract/common.ts';
import {
  ENDED_STATUSES,
  OFFLINE_REPAIR_MOVES,
  type OfflineRepairAction,
  TRADE_RETURN_MOVES,
} from '../../../contract/lifecycle.ts';
import type { OfflineRepair } from '../../../contract/offline-repair.ts';
import type { TradeReturn } from '../../../contract/trade-return.ts';
import { ApiError, api, errorMessage } from '../api.ts';
import { describeStatus, KIND_OF, type Kind, REPAIRS, TRADE_RETURNS } from '../returns/kinds.ts';
import { type MoveBody, REPAIR_MOVES, type StaffMove, TRADE_MOVES } from '../returns/moves/moves.ts';
import { findReturns, refetchReturns } from '../returns/queries.ts';
import { formatRelative } from '../ui/relative-time.tsx';

// What a scan may do, of either kind. A search shows only the status of a return, which is all that these ask for.

export interface BenchMove extends Pick<StaffMove<never>, 'action' | 'label' | 'done' | 'fields'> {
  isOpen(status: string): boolean;
  /** Whether the return would come back from where its work had ended. */
  reopens(status: string): boolean;
}

export interface BenchKind {
  kind: Kind;
  moves: BenchMove[];
}

const hasEnded = (status: string): boolean =>
  (ENDED_STATUSES.offline_repairs as readonly string[]).includes(status);

export const BENCH_KINDS: BenchKind[] = [
  {
    kind: REPAIRS,
    moves: REPAIR_MOVES.map((move) => ({
      ...move,
      isOpen: (status) => move.isOpen({ status } as OfflineRepair),
      reopens: (status) =>
        hasEnded(status) && OFFLINE_REPAIR_MOVES[move.action as OfflineRepairAction].to !== null,
    })),
  },
  {
    kind: TRADE_RETURNS,
    moves: TRADE_MOVES.map((move) => ({
      ...move,
      isOpen: (status) => move.isOpen({ status } as TradeReturn),
      reopens: () => false,
    })),
  },
];

export interface Job {
  of: BenchKind;
  move: BenchMove;
  body: MoveBody;
}

export interface Outcome {
  text: string;
  isDone: boolean;
  message: string;
  found: FoundReturn | null;
  kind: Kind | null;
}

/** Finds the return that was scanned and moves it. It reports a refusal in words and never throws. */
const doScan = async (text: string, job: Job): Promise<Outcome> => {
  let found: FoundReturn | null = null;
  const failed = (message: string): Outcome => ({ text, isDone: false, message, found, kind: kindOf(found) });
  try {
    const matches = (await findReturns(text)).filter(({ match }) => match !== null);
    const ofKind = stillOpen(matches.filter(({ kind }) => kind === job.of.kind.savedKind));
    found = ofKind[0] ?? matches[0] ?? null;
    if (!found) return failed('Not found: no return has exactly this number, serial, reference or order.');
    if (ofKind.length === 0)
      return failed(`This is a ${kindOf(found)?.one}. Choose “${kindOf(found)?.title}” above.`);
    if (ofKind.length > 1)
      return failed(`${ofKind.length} ${job.of.kind.many} have this. Scan their number instead.`);
    const reason = await whyNot(found, job);
    if (reason !== null) return failed(reason);
    const path = `${job.of.kind.path}/${found.id}/${job.move.action}?seen=${encodeURIComponent(found.updatedAt)}`;
    await api.post(path, job.body);
    return { text, isDone: true, message: job.move.done, found, kind: job.of.kind };
  } catch (error) {
    return failed(found && isConflict(error) ? await whoWasFaster(found, job) : errorMessage(error));
  }
};

const ENDED: readonly string[] = Object.values(ENDED_STATUSES).flat();
/** Of several that are meant, as with an item that was repaired before, those whose work has not ended. */
const stillOpen = (found: FoundReturn[]): FoundReturn[] => {
  const open = found.filter(({ status }) => !ENDED.includes(status));
  return open.length > 0 ? open : found;
};

const kindOf = (found: FoundReturn | null): Kind | null => (found ? KIND_OF[found.kind] : null);

/** That a return was erased, its own message says. */
const isConflict = (error: unknown): boolean =>
  error instanceof ApiError && error.status === 409 && error.body?.code !== 'ERASED';

const targetOf = ({ of: { kind }, move: { action } }: Job): string | null => {
  const moves: Record<string, { to: string | null }> =
    kind === REPAIRS ? OFFLINE_REPAIR_MOVES : TRADE_RETURN_MOVES;
  return moves[action]?.to ?? null;
};

const whyNot = async (found: FoundReturn, job: Job): Promise<string | null> => {
  if (found.status === targetOf(job))
    return `Already “${describeStatus(found.status).label}”${byWhom(await lastMove(found, job))}.`;
  const status = `It is “${describeStatus(found.status).label}”`;
  if (job.move.reopens(found.status)) return `${status}. Open it to begin it again.`;
  return job.move.isOpen(found.status) ? null : `${status}, so “${job.move.label}” is not possible.`;
};

const whoWasFaster = async (found: FoundReturn, job: Job): Promise<string> => {
  const last = await lastMove(found, job);
  const status = last?.toStatus ? `It is “${describeStatus(last.toStatus).label}” now` : 'It was changed';
  return `Someone else changed this return. ${status}${byWhom(last)}.`;
};

const byWhom = (entry: TimelineEntry | null): string =>
  entry ? `, by ${entry.actor.name} ${formatRelative(entry.at)}` : '';

/** The latest entry that changed the status. Without it the reason is still shown, without a name. */
const lastMove = async ({ id }: FoundReturn, { of: { kind } }: Job): Promise<TimelineEntry | null> => {
  const path = `${kind.path}/${id}/timeline`;
  const { items } = await api
    .get<z.infer<typeof Timeline>>(path)
    .catch(() => ({ items: [] as TimelineEntry[] }));
  return items.findLast(({ fromStatus, toStatus }) => toStatus !== null && toStatus !== fromStatus) ?? null;
};

export interface Scan {
  id: number;
  text: string;
  job: Job;
  /** Null while it waits or is processed. */
  outcome: Outcome | null;
}

/** Works off scans one after another, so that none is lost while one is processed. The newest come first in `scans`. */
export const useScanQueue = (onOutcome: (outcome: Outcome) => void) => {
  const queryClient = useQueryClient();
  const [scans, setScans] = useState<Scan[]>([]);
  const queue = useRef(Promise.resolve());
  const counter = useRef(0);
  /** Null once the page is left. */
  const latest = useRef<typeof onOutcome | null>(onOutcome);
  useEffect(() => {
    latest.current = onOutcome;
    return () => {
      latest.current = null;
    };
  });

  const work = async ({ id, text, job }: Scan): Promise<void> => {
    const outcome = await doScan(text, job);
    setScans((all) => all.map((each) => (each.id === id ? { ...each, outcome } : each)));
    latest.current?.(outcome);
    void refetchReturns(queryClient, job.of.kind);
  };
  const add = (text: string, job: Job): void => {
    counter.current += 1;
    const scan: Scan = { id: counter.current, text, job, outcome: null };
    setScans((all) => [scan, ...all]);
    queue.current = queue.current.then(() => work(scan));
  };
  return { scans, add };
};
