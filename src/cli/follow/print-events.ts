import { once } from 'node:events';
import { printable } from '../output.ts';
import type { FeedEvent } from './feed.ts';
import type { Forwarded } from './forward.ts';

export type Show = (event: FeedEvent, forwarded?: Forwarded) => Promise<void>;

/** Prints each event in a line; waits for a reader that is slow, and ends the command when the reader has gone. */
export const eventPrinter = (json: boolean, end: () => void): Show => {
  let gone = false;
  process.stdout.on('error', () => {
    gone = true;
    end();
  });
  return async (event, forwarded) => {
    if (gone) return;
    const line = json
      ? JSON.stringify({ ...event, ...(forwarded && { forwarded }) })
      : lineFor(event, forwarded);
    // Where the reader goes away instead, the listener above hears of it.
    if (!process.stdout.write(`${line}\n`)) await once(process.stdout, 'drain').catch(() => {});
  };
};

/** As long as the longest of the names. */
const NAME_WIDTH = 'offline_repair.tracking_uploaded'.length;

const lineFor = ({ id, event, timestamp, data }: FeedEvent, forwarded?: Forwarded): string => {
  const { rmaNumber, status, externalRef } = data;
  const attempts = forwarded && forwarded.attempts > 1 ? ` at attempt ${forwarded.attempts}` : '';
  const fields = [timestamp, event, rmaNumber, status, externalRef, id].map((field) =>
    printable(String(field ?? '-')),
  );
  fields[1] = fields[1]?.padEnd(NAME_WIDTH) ?? '';
  return [...fields, ...(forwarded ? [`-> ${forwarded.statusCode}${attempts}`] : [])].join('  ');
};
