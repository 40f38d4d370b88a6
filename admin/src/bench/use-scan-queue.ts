import { useQueryClient } from '@tanstack/react-query';
import { useCallback, useEffect, useRef, useState } from 'react';
import { refetchReturns } from '../returns/queries.ts';
import { doScan, type Job, type Outcome } from './do-scan.ts';

export interface Scan {
  id: number;
  text: string;
  job: Job;
  /** Null while it waits or is under way. */
  outcome: Outcome | null;
}

/** Works off scans one after another, so that none is lost while one is under way. The newest come first in `scans`. */
export const useScanQueue = (onOutcome: (outcome: Outcome) => void) => {
  const queryClient = useQueryClient();
  const [scans, setScans] = useState<Scan[]>([]);
  const waiting = useRef<Scan[]>([]);
  const isWorking = useRef(false);
  const latest = useRef(onOutcome);
  latest.current = onOutcome;
  const isMounted = useRef(true);
  useEffect(() => {
    isMounted.current = true;
    return () => {
      isMounted.current = false;
    };
  }, []);

  const work = useCallback(async () => {
    if (isWorking.current) return;
    isWorking.current = true;
    for (let scan = waiting.current.shift(); scan; scan = waiting.current.shift()) {
      const { id, text, job } = scan;
      const outcome = await doScan(text, job);
      if (isMounted.current) {
        setScans((all) => all.map((each) => (each.id === id ? { ...each, outcome } : each)));
        latest.current(outcome);
      }
      void refetchReturns(queryClient, job.of.kind);
    }
    isWorking.current = false;
  }, [queryClient]);

  const counter = useRef(0);
  const add = useCallback(
    (text: string, job: Job) => {
      counter.current += 1;
      const scan: Scan = { id: counter.current, text, job, outcome: null };
      waiting.current.push(scan);
      setScans((all) => [scan, ...all]);
      void work();
    },
    [work],
  );
  return { scans, add };
};
