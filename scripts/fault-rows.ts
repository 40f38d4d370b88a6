// The rows of the table in docs/reliability.md: what is done to the service, and when that is taken to hold. What a row does is
// in test/faults/rows/, in files that begin with its number.

export interface FaultRow {
  row: number;
  fault: string;
  holds: string;
  /** It compares times, so nothing else runs beside it. */
  alone?: true;
}

export const FAULT_ROWS: readonly FaultRow[] = [
  {
    row: 1,
    fault: '`kill -9` of the service at random moments under load; two processes on PostgreSQL',
    holds: 'the history has no fault; at most 5 duplicate deliveries a kill, the same to the byte',
  },
  {
    row: 2,
    fault: '`kill -9` between the receiver’s 2xx and the row being marked',
    holds: 'sent again within the lease + 5 s',
  },
  {
    row: 3,
    fault: 'PostgreSQL killed under load; its packets dropped in silence for 15 s; the standby promoted',
    holds: 'nothing acknowledged is lost; a 503 within 5 s, no request over 10 s; back within 10 s, unaided',
    alone: true,
  },
  {
    row: 4,
    fault: 'SIGTERM under load; two processes behind a proxy restarted in turn, with keep-alive',
    holds: 'no failed request; exit within 12 s; no event lost',
  },
  {
    row: 5,
    fault: 'four workers on one queue; one asleep past its lease; clocks 5 s ahead and behind',
    holds: 'exactly one attempt for each event; nothing overwritten',
  },
  {
    row: 6,
    fault: 'half of 200 receivers hang or refuse, 20,000 deliveries waiting',
    holds: 'p99 of the healthy ones at most twice that without the others',
    alone: true,
  },
  {
    row: 7,
    fault:
      'hostile receivers: a drip, 1 GB, a gzip bomb, 100,000 headers, malformed chunks, resets, floods of 1xx, bad certificates',
    holds: 'each is a failed attempt; at most 20 MB more memory; no body goes out over a bad certificate',
  },
  {
    row: 8,
    fault: 'DNS rebinding, mixed answers, redirects to the inside, spellings of inside addresses',
    holds: 'nothing reaches the canary',
  },
  {
    row: 9,
    fault:
      'malformed and random bodies at every endpoint, bodies of 100 MB, JSON 10,000 deep, `__proto__` as a field',
    holds: 'no answer of 500 or above, all in the shape of errors; the event loop never blocked over 100 ms',
    alone: true,
  },
  {
    row: 10,
    fault: 'slow headers, slow bodies, slow reads, 1,000 connections for 60 s',
    holds: 'p99 of good callers at most doubled, none refused',
    alone: true,
  },
  {
    row: 11,
    fault: 'every route with an id, called with ids of other shops, in both APIs',
    holds: '404, the same to the byte as for an unknown id',
  },
  {
    row: 12,
    fault: 'clients revoked and replaced under load, two processes',
    holds: 'no request is accepted that began after the answer',
  },
  {
    row: 13,
    fault:
      'the limits with two processes; 1,000 forged `X-Forwarded-For`; a whole IPv6 /64; a million addresses',
    holds: 'never over 60 in any minute or 5 in any second from one address; table and memory bounded',
  },
  {
    row: 14,
    fault: 'the last place of an allowance wanted by 200 at once, two processes; the month’s turn in UTC',
    holds: 'exactly one 201',
  },
  {
    row: 15,
    fault: 'the same `Idempotency-Key` 100 times at once, and through `kill -9`',
    holds: 'one RMA, one event',
  },
  {
    row: 16,
    fault: 'pairs of moves at once on one RMA',
    holds: 'no two events with the same type, id and timestamp',
  },
  {
    row: 17,
    fault:
      'logs, database, backup and error bodies searched for issued keys, secrets, passwords and customers',
    holds: 'none is found where it does not belong',
  },
  {
    row: 18,
    fault: 'ten minutes of mixed load',
    holds: 'memory and file descriptors flat after the warm-up; the outbox empty at the end',
  },
  {
    row: 19,
    fault:
      'a full disk, a read-only database, a damaged secret file, the wrong SECRET_KEY, a clock an hour back, a second process on one SQLite folder',
    holds: 'one clear error each; nothing damaged; work goes on once it is mended',
  },
  {
    row: 20,
    fault: 'two processes start at once on an empty database; a column added to every table under load',
    holds: 'both migrate and serve; no answer of 500 or above',
  },
];
