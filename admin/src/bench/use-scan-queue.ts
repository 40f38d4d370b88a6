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

// A tone for each scan, for people who look at the goods and not at the screen.

const REMEMBERED = 'handback.bench-sound';
const TONES = { done: { hertz: 880, seconds: 0.12 }, failed: { hertz: 196, seconds: 0.45 } } as const;
const QUIET = 0.15;

let audio: AudioContext | null = null;

const play = (tone: keyof typeof TONES): void => {
  audio ??= new AudioContext();
  const { hertz, seconds } = TONES[tone];
  const oscillator = new OscillatorNode(audio, {
    frequency: hertz,
    type: tone === 'done' ? 'sine' : 'square',
  });
  const gain = new GainNode(audio, { gain: QUIET });
  oscillator.connect(gain).connect(audio.destination);
  oscillator.start();
  oscillator.stop(audio.currentTime + seconds);
};

/** Off unless somebody turned it on at this computer. */
export const useSound = () => {
  const [isOn, setOn] = useState(() => localStorage.getItem(REMEMBERED) === 'on');
  return {
    isOn,
    turn: (on: boolean) => {
      localStorage.setItem(REMEMBERED, on ? 'on' : 'off');
      setOn(on);
      if (on) play('done');
    },
    play: (tone: keyof typeof TONES) => {
      if (isOn) play(tone);
    },
  };
};
