import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';

// Receivers that acknowledge everything at once, in a process of their own that tells when so many events have come.

const RUN = fileURLToPath(new URL('./receivers-run.ts', import.meta.url));

/** Where not all has come by then, the run fails instead of waiting for ever. */
const LONGEST_MS = 120_000;

/** What the process says, each once a count. */
export type ReceiverReport =
  | { is: 'listening'; urls: string[] }
  | { is: 'first' }
  /** Seconds from the first to the last. */
  | { is: 'all'; seconds: number };
export interface ReceiverOrder {
  expect: number;
}

export interface Receivers {
  urls: string[];
  /** Begins to count; `first` and `all` come true with the first and with the last of so many different events. */
  expect(count: number): { first: Promise<void>; all: Promise<number> };
  stop(): Promise<void>;
}

export const startReceivers = async (count: number): Promise<Receivers> => {
  const child = fork(RUN, [String(count)]);
  const told = <Is extends ReceiverReport['is']>(is: Is): Promise<Extract<ReceiverReport, { is: Is }>> =>
    new Promise((resolve, reject) => {
      const tooLate = setTimeout(
        () => reject(new Error(`the receivers waited too long (${is})`)),
        LONGEST_MS,
      );
      const listener = (report: ReceiverReport) => {
        if (report.is !== is) return;
        clearTimeout(tooLate);
        child.off('message', listener).off('exit', reject);
        resolve(report as Extract<ReceiverReport, { is: Is }>);
      };
      child.on('message', listener).on('exit', reject);
    });
  const { urls } = await told('listening');
  return {
    urls,
    expect(events) {
      const first = told('first').then(() => {});
      const all = told('all').then(({ seconds }) => seconds);
      child.send({ expect: events } satisfies ReceiverOrder);
      return { first, all };
    },
    async stop() {
      const ended = new Promise((resolve) => child.once('exit', resolve));
      child.disconnect();
      await ended;
    },
  };
};
