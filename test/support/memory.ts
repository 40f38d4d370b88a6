import { readFileSync } from 'node:fs';
import { onTestFinished } from 'vitest';

/** What a process holds in memory now, in MB. */
export const residentMb = (pid: number): number =>
  Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024;

/** Looks at a process again and again; gives the most that it held. */
export const watchMemory = (pid: number): (() => number) => {
  let most = residentMb(pid);
  const look = () => {
    most = Math.max(most, residentMb(pid));
  };
  const timer = setInterval(look, 20);
  onTestFinished(() => clearInterval(timer));
  return () => {
    look();
    return most;
  };
};
