import type { Say } from './back-off.ts';
import { type Feed, openFeed } from './feed.ts';
import { follow, type Place, type Taker } from './follow.ts';
import { createForwarder } from './forward.ts';
import { placeFile } from './place-file.ts';
import { eventPrinter, type Show } from './print-events.ts';

export interface EventsOptions {
  key: string;
  url: string;
  after?: string;
  forward?: { to: string; secret: string };
  json: boolean;
}

interface Surroundings {
  say: Say;
  show: Show;
  stop: AbortSignal;
}

const BEGINNING: Place = { cursor: null, lastId: null };

/** Follows the feed until Ctrl-C or SIGTERM: prints each event, and forwards it where that is asked for. */
export const events = async (options: EventsOptions, env: NodeJS.ProcessEnv): Promise<void> => {
  const stopping = new AbortController();
  const end = () => stopping.abort();
  // A second Ctrl-C ends it at once.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, end);
  const around: Surroundings = {
    say: (line) => void process.stderr.write(`${line}\n`),
    show: eventPrinter(options.json, end),
    stop: stopping.signal,
  };
  const feed = openFeed(options.url, options.key);
  if (options.forward) await forwardAll(feed, options, options.forward, env, around);
  else await printAll(feed, options, around);
};

/** `oldest` is the feed's own beginning, which has no cursor. */
const placeGiven = (after: string | undefined): Place | null =>
  after === undefined ? null : { cursor: after === 'oldest' ? null : after, lastId: null };

const wordsForPlace = (place: Place): string => {
  if (place.cursor === 'latest') return 'starting with the next event';
  return place.cursor === null && place.lastId === null
    ? 'starting with the oldest event that is kept (--after latest: only new ones)'
    : 'going on where it was';
};

const printAll = async (feed: Feed, { after }: EventsOptions, around: Surroundings): Promise<void> => {
  const start = placeGiven(after) ?? BEGINNING;
  around.say(`Following ${feed.url}, ${wordsForPlace(start)}. Ctrl-C ends it.`);
  const taker: Taker = { take: (event) => around.show(event), passed: () => {} };
  await follow(feed, start, taker, around);
};

const forwardAll = async (
  feed: Feed,
  { key, after }: EventsOptions,
  { to, secret }: NonNullable<EventsOptions['forward']>,
  env: NodeJS.ProcessEnv,
  around: Surroundings,
): Promise<void> => {
  const file = placeFile(env, feed.url, key);
  const start = placeGiven(after) ?? file.read() ?? BEGINNING;
  // What cannot be kept is better known before the first event than after it.
  if (start.cursor !== 'latest') file.write(start);
  around.say(`Forwarding ${feed.url} to ${to}, ${wordsForPlace(start)}. Ctrl-C ends it.`);
  around.say(`The place is kept in ${file.path}.`);
  const forwarder = createForwarder(to, secret, around);
  const taker: Taker = {
    async take(event, place) {
      const forwarded = await forwarder.send(event);
      if (!forwarded) return;
      file.write(place);
      await around.show(event, forwarded);
    },
    passed: file.write,
  };
  try {
    await follow(feed, start, taker, around);
  } finally {
    await forwarder.close();
  }
};
