import pg from 'pg';
import { REPLACED } from '../errors.ts';
import type { PostgresAddress } from './address.ts';

// Which of the hosts in DATABASE_URL is used, by every connection of this process (decision 203).

/** How long a host has to answer when we look for the one to use. */
const ANSWER_WITHIN_MS = 1_500;

export interface Hosts {
  /** The one in use. */
  readonly url: string;
  /** Counts the servers that were in use: connections of an earlier era must not be used any more. */
  readonly era: number;
  /** Connects to the one in use. Where that is unknown, or a connection to it failed, looks for it first. */
  connect<Value>(open: (url: string) => Promise<Value>): Promise<Value>;
  /** Throws unless the server behind this connection will do. `readOnly` is what `show transaction_read_only` says there. */
  accept(readOnly: string | undefined): void;
  /** A statement was refused because the server takes no writes. */
  refused(era: number): void;
  /** Calls the listener when another server is in use, until that is undone. */
  onMove(listener: () => void): () => void;
}

class TakesNoWrites extends Error {
  readonly code = '25006';
  readonly severity = 'ERROR';
}

/** With what each of them said, in `errors`. */
class NoHost extends AggregateError {
  readonly code = '08001';
  readonly severity = 'ERROR';
}

/** Whoever calls while it is under way waits for its end. */
const shared = (work: () => Promise<void>): (() => Promise<void>) => {
  let underWay: Promise<void> | null = null;
  return () => {
    underWay ??= work().finally(() => {
      underWay = null;
    });
    return underWay;
  };
};

export const hostsOf = ({ urls, mustTakeWrites }: PostgresAddress): Hosts => {
  const isAlone = urls.length === 1;
  const listeners = new Set<() => void>();
  let inUse = urls[0];
  let era = 0;
  /** A host that is alone need not be looked for. */
  let isKnown = isAlone;
  let newestTimeline = '';

  const move = () => {
    era += 1;
    for (const listener of listeners) listener();
  };
  const ask = async (url: string): Promise<Candidate> => {
    const candidate = await askHost(url, mustTakeWrites);
    if (candidate.timeline < newestTimeline) throw new TakesNoWrites(REPLACED);
    return candidate;
  };
  const look = shared(async (): Promise<void> => {
    const preferred = [inUse, ...urls.filter((url) => url !== inUse)];
    const best = bestOf(await Promise.allSettled(preferred.map(ask)));
    newestTimeline = best.timeline;
    isKnown = true;
    if (best.url === inUse) return;
    inUse = best.url;
    move();
  });

  return {
    get url() {
      return inUse;
    },
    get era() {
      return era;
    },
    async connect(open) {
      if (!isKnown) await look();
      const tried = inUse;
      try {
        return await open(tried);
      } catch (error) {
        if (tried === inUse) isKnown = isAlone;
        throw error;
      }
    },
    accept(readOnly) {
      if (mustTakeWrites && readOnly !== 'off') throw new TakesNoWrites('the server takes no writes');
    },
    refused(ofEra) {
      if (!mustTakeWrites || ofEra !== era) return;
      isKnown = isAlone;
      move();
    },
    onMove(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
};

/** The one that was promoted last; of equals the first. */
const bestOf = (answers: PromiseSettledResult<Candidate>[]): Candidate => {
  const [first, ...others] = answers.flatMap((answer) =>
    answer.status === 'fulfilled' ? [answer.value] : [],
  );
  if (!first)
    throw new NoHost(
      answers.map((answer) => (answer.status === 'rejected' ? answer.reason : null)),
      'no host takes writes',
    );
  return others.reduce((kept, next) => (next.timeline > kept.timeline ? next : kept), first);
};

interface Candidate {
  url: string;
  /** Grows with each promotion: of two servers that take writes, the one with the lower timeline has been replaced. */
  timeline: string;
}

const askHost = async (url: string, mustTakeWrites: boolean): Promise<Candidate> => {
  const client = new pg.Client({
    connectionString: url,
    connectionTimeoutMillis: ANSWER_WITHIN_MS,
    query_timeout: ANSWER_WITHIN_MS,
    application_name: 'handback',
  });
  // Whoever waits for the answer is told.
  client.on('error', () => {});
  try {
    await client.connect();
    if (!mustTakeWrites) return { url, timeline: '' };
    const { rows } = await client.query<{ read_only: string; timeline: string | null }>(
      `select current_setting('transaction_read_only') as read_only,
         case when not pg_is_in_recovery() then left(pg_walfile_name(pg_current_wal_lsn()), 8) end as timeline`,
    );
    if (rows[0]?.read_only !== 'off') throw new TakesNoWrites('the server takes no writes');
    return { url, timeline: rows[0].timeline ?? '' };
  } finally {
    // It is of no use any more, however it ends.
    client.end().catch(() => {});
  }
};
