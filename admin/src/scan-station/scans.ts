import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import { KIND_OF } from '../returns/kinds.ts';
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

const restored = (scan: Scan): Scan => ({ ...scan, outcome: scan.outcome ?? failedWith(words.interrupted) });

/** What was chosen and scanned; it survives a reload of the tab. */
const useStored = () => {
  const { user } = useSession();
  const name = `handback.station.${user.id}`;
  const [stored] = useState(() => readTab<{ job: Job; scans: Scan[] }>(name));
  const [job, setJob] = useState(stored?.job ?? NO_JOB);
  const [scans, setScans] = useState(() => (stored?.scans ?? []).map(restored));
  useEffect(() => writeTab(name, { job, scans: scans.slice(0, MOST_KEPT) }), [name, job, scans]);
  return { job, setJob, scans, setScans };
};

/** Works off scans one after another, so that none is lost while one is processed. The newest come first in `scans`. */
export const useStation = (onOutcome: (outcome: Outcome) => void, blocked: string | null) => {
  const queryClient = useQueryClient();
  const printer = useSlipPrinter();
  const { job, setJob, scans, setScans } = useStored();
  const [errors, setErrors] = useState<Record<string, string>>({});
  const [lastId, setLastId] = useState<number | null>(null);
  const queue = useRef(Promise.resolve());
  const counter = useRef(scans[0]?.id ?? 0);
  /** Null once the page is left. */
  const latest = useRef<typeof onOutcome | null>(onOutcome);
  useEffect(() => {
    latest.current = onOutcome;
    return () => {
      latest.current = null;
    };
  });

  const settle = (id: number, outcome: Outcome | null, of?: Job | null) =>
    setScans((all) =>
      all.map((each) =>
        each.id === id ? { ...each, outcome, ...(of === undefined ? {} : { job: of }) } : each,
      ),
    );
  const process = (id: number, work: () => Promise<Outcome>) => {
    queue.current = queue.current.then(async () => {
      const outcome = await work();
      settle(id, outcome);
      setLastId(id);
      latest.current?.(outcome);
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
    counter.current += 1;
    const id = counter.current;
    const problem = whyNotReady();
    const outcome = problem === null ? null : failedWith(problem);
    setScans((all) => [{ id, text, job: problem === null ? job : null, outcome }, ...all]);
    if (outcome) {
      setLastId(id);
      onOutcome(outcome);
    } else process(id, () => doScan(text, job, printer.print));
  };
  const retry = (failed: readonly Scan[]): void => {
    const needsJob = failed.some((scan) => scan.job === null);
    if (needsJob && whyNotReady() !== null) return;
    for (const { id, text, job: own } of failed) {
      const of = own ?? job;
      settle(id, null, of);
      process(id, () => doScan(text, of, printer.print));
    }
  };
  const undoScan = ({ id, outcome }: Scan): void => {
    if (!outcome) return;
    settle(id, null);
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
    clear: () => setScans((all) => all.filter(({ outcome }) => outcome === null)),
    printer,
  };
};
export type Station = ReturnType<typeof useStation>;
