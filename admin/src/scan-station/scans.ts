import { queryOptions, skipToken, useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { type AnyReturn, KIND_OF } from '../returns/kinds.ts';
import { useSlipPrinter } from '../returns/print/slips.tsx';
import { refetchReturns } from '../returns/queries.ts';
import { useSession } from '../session/session.ts';
import { texts } from '../texts.ts';
import { readTab, writeTab } from '../ui/tab-storage.ts';
import { actionOf, doScan, errorsOf, failedWith, type Job, type Outcome, undo } from './actions.ts';

const words = texts.station;

export interface Scan {
  id: number;
  text: string;
  /** Null where no action was chosen: it is done with what is chosen when it is tried again. */
  job: Job | null;
  /** Null while it waits or is processed. */
  outcome: Outcome | null;
}

/** No scan counts before an action is chosen: one that was never meant cannot be undone. */
const NO_JOB: Job = { type: 'OFFLINE_REPAIR', action: '', values: {} };
/** More than a person looks through, and little enough for the tab's storage. */
const MOST_KEPT = 300;

interface Kept {
  scans: Scan[];
  /** What was processed last; null after a reload. */
  lastId: number | null;
}

const nameOf = (userId: string): string => `handback.station.${userId}`;

const restored = (scan: Scan): Scan => ({ ...scan, outcome: scan.outcome ?? failedWith(words.interrupted) });

/**
 * The scans are in the cache of what was read, and nothing fetches them. So they outlive the page, whose work goes on when it is left;
 * a reload of the tab restores them, and signing out forgets them like everything else.
 */
const scansQuery = (userId: string) =>
  queryOptions<Kept>({
    queryKey: ['station', userId],
    queryFn: skipToken,
    initialData: () => ({ scans: (readTab<Scan[]>(nameOf(userId)) ?? []).map(restored), lastId: null }),
    gcTime: Number.POSITIVE_INFINITY,
  });

const useKept = () => {
  const { user } = useSession();
  const queryClient = useQueryClient();
  const { queryKey, ...options } = scansQuery(user.id);
  const { data } = useQuery({ queryKey, ...options });
  const read = (): Kept | undefined => queryClient.getQueryData<Kept>(queryKey);
  const change = (next: (kept: Kept) => Partial<Kept>): void => {
    const before = read();
    // They are gone: the person has signed out.
    if (!before) return;
    const kept = { ...before, ...next(before) };
    queryClient.setQueryData<Kept>(queryKey, kept);
    writeTab(nameOf(user.id), kept.scans.slice(0, MOST_KEPT));
  };
  return { kept: data ?? { scans: [], lastId: null }, read, change };
};

const useJob = () => {
  const { user } = useSession();
  const name = `${nameOf(user.id)}.job`;
  const [job, setJob] = useState(() => readTab<Job>(name) ?? NO_JOB);
  useEffect(() => writeTab(name, job), [name, job]);
  return [job, setJob] as const;
};

/** Scans are worked off one after another, whether the page is open or not. */
let queue = Promise.resolve();
/** Two scans of a document never have the same, not even if others have signed in between. */
let newestId = 0;

interface OpenPage {
  print(item: AnyReturn): Promise<void>;
  onOutcome(outcome: Outcome): void;
}
/** Null while the page is not open. */
let openPage: OpenPage | null = null;
const print: OpenPage['print'] = async (item) => {
  if (!openPage) throw new Error(texts.print.pageLeft);
  await openPage.print(item);
};

/** The newest come first in `scans`. */
export const useStation = (onOutcome: (outcome: Outcome) => void, blocked: string | null) => {
  const queryClient = useQueryClient();
  const printer = useSlipPrinter();
  const [job, setJob] = useJob();
  const {
    kept: { scans, lastId },
    read,
    change,
  } = useKept();
  const [errors, setErrors] = useState<Record<string, string>>({});
  useEffect(() => {
    openPage = { print: printer.print, onOutcome };
    return () => {
      openPage = null;
    };
  });

  const settle = (id: number, part: Partial<Scan>) =>
    change((kept) => ({ scans: kept.scans.map((each) => (each.id === id ? { ...each, ...part } : each)) }));
  const process = (id: number, work: () => Promise<Outcome>) => {
    queue = queue.then(async () => {
      if (!read()?.scans.some((scan) => scan.id === id)) return;
      const outcome = await work();
      settle(id, { outcome });
      change(() => ({ lastId: id }));
      openPage?.onOutcome(outcome);
      if (outcome.type) void refetchReturns(queryClient, KIND_OF[outcome.type]);
    });
  };
  /** Why a scan would do nothing now; the inputs say so too. */
  const whyNotReady = (): string | null => {
    const action = actionOf(job);
    const wrong = action ? errorsOf(job, action) : { action: words.required };
    setErrors(wrong);
    if (blocked !== null || !action) return blocked ?? words.pickAction;
    return Object.keys(wrong).length > 0 ? words.fillIn : null;
  };
  const add = (text: string): void => {
    newestId = Math.max(newestId, scans[0]?.id ?? 0) + 1;
    const id = newestId;
    const problem = whyNotReady();
    const outcome = problem === null ? null : failedWith(problem);
    const scan: Scan = { id, text, job: problem === null ? job : null, outcome };
    change((kept) => ({ scans: [scan, ...kept.scans], lastId: outcome ? id : kept.lastId }));
    if (outcome) onOutcome(outcome);
    else process(id, () => doScan(text, job, print));
  };
  const retry = (failed: readonly Scan[]): void => {
    const needsJob = failed.some((scan) => scan.job === null);
    if (needsJob && whyNotReady() !== null) return;
    for (const { id, text, job: own } of failed) {
      const of = own ?? job;
      settle(id, { outcome: null, job: of });
      process(id, () => doScan(text, of, print));
    }
  };
  const undoScan = ({ id, outcome }: Scan): void => {
    if (!outcome) return;
    settle(id, { outcome: null });
    process(id, () => undo(outcome));
  };
  return {
    job,
    errors,
    choose: (part: Partial<Job>) => {
      setJob({ ...job, ...part });
      setErrors({});
    },
    scans,
    /** What was processed last; after a reload, what was scanned last. */
    last: scans.find(({ id }) => id === lastId) ?? (lastId === null ? scans[0] : undefined),
    add,
    retry,
    undo: undoScan,
    clear: () => change((kept) => ({ scans: kept.scans.filter(({ outcome }) => outcome === null) })),
    printer,
  };
};
export type Station = ReturnType<typeof useStation>;
