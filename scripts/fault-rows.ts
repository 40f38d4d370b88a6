// The faults of docs/reliability.md: what happens to the service, and what the service promises meanwhile. The code that
// injects fault N is in test/faults/rows/, in the files whose names begin with that number.

export interface FaultRow {
  row: number;
  /** Its heading on the page. */
  title: string;
  fault: string;
  /** What the service promises while that happens; a sentence without its full stop. */
  promise: string;
  /** What a reader has to know to understand the figures. */
  note?: string;
  /** It compares times, so nothing else runs beside it. */
  alone?: true;
}

export const FAULT_ROWS: readonly FaultRow[] = [
  {
    row: 1,
    title: 'The service is killed under load',
    fault:
      '`kill -9` at random moments while four callers create and move returns. On PostgreSQL two processes serve.',
    promise:
      'the history has no fault, a kill causes at most 5 duplicate deliveries on average over the run and at most 24 at once, and a duplicate has the same bytes',
    note: 'Five is the average of a run. A single kill repeats whatever was being sent, which is up to eight deliveries for each of the three receivers ([ADR 0005](adr/0005-a-delivery-always-ends.md)): one kill on PostgreSQL repeated 16.',
  },
  {
    row: 2,
    title: 'The service is killed after a receiver has accepted a delivery',
    fault: '`kill -9` between the receiver’s 2xx and the moment the service stores it.',
    promise: 'the delivery is sent again within the time of the lease and 5 s more',
  },
  {
    row: 3,
    title: 'PostgreSQL dies, falls silent or fails over',
    fault:
      'PostgreSQL is killed under load. Its packets are silently dropped for 15 s. Its standby is promoted.',
    promise:
      'nothing that was acknowledged is lost, callers get a 503 within 5 s and no request takes over 10 s, and the service is back within 10 s without help',
    alone: true,
  },
  {
    row: 4,
    title: 'Restarts under load',
    fault:
      'SIGTERM under load. Two processes behind a proxy are restarted in turn, with keep-alive connections.',
    promise: 'no request fails, the process exits within 12 s, and no event is lost',
  },
  {
    row: 5,
    title: 'Four workers share one queue',
    fault:
      'Four workers send from one queue. One sleeps past its lease, and clocks are 5 s ahead and behind.',
    promise: 'each event has exactly one attempt, and nothing is overwritten',
  },
  {
    row: 6,
    title: 'Half of the receivers hang or refuse',
    fault:
      'Of 200 receivers 100 hang, refuse connections or respond with errors; 20,000 deliveries to them are waiting.',
    promise: 'the 99th percentile of the healthy receivers is at most twice what it is without the others',
    note: 'Both times are a few milliseconds on a shared machine, so the ratio says little: in the first run SQLite was exactly at the limit, and in the second PostgreSQL was faster with the bad receivers than without. What both runs show is that healthy receivers get their events within 20 ms.',
    alone: true,
  },
  {
    row: 7,
    title: 'Hostile receivers',
    fault:
      'Responses that drip, of 1 GB, as a gzip bomb, with 100,000 headers, with malformed chunks, with floods of 1xx; resets; bad certificates.',
    promise:
      'each is a failed attempt, memory grows by at most 20 MB, and no body is sent over a connection with a bad certificate',
  },
  {
    row: 8,
    title: 'Webhook addresses that lead to the internal network',
    fault:
      'DNS rebinding, names with public and private addresses, redirects, and every spelling of a private address.',
    promise: 'no request reaches the internal server that watches for them',
  },
  {
    row: 9,
    title: 'Malformed and random bodies',
    fault:
      'Malformed and random bodies at every endpoint, bodies of 100 MB, JSON 10,000 levels deep, `__proto__` as a field.',
    promise:
      'no response is a 5xx, every refusal has the form of an error, and the event loop is never blocked for over 100 ms',
    alone: true,
  },
  {
    row: 10,
    title: 'Slow callers',
    fault: 'Slow headers, slow bodies and slow reads on 1,000 connections for 60 s.',
    promise: 'the 99th percentile of good callers at most doubles, and none is refused',
    alone: true,
  },
  {
    row: 11,
    title: 'Ids of other shops',
    fault: 'Every route that takes an id, in both APIs, is called with ids of other shops.',
    promise: 'the response is a 404 with the same bytes as for an unknown id',
  },
  {
    row: 12,
    title: 'Keys revoked and replaced under load',
    fault: 'Clients are revoked and replaced under load, with two processes.',
    promise: 'no request is accepted that began after the response to the revocation',
  },
  {
    row: 13,
    title: 'Rate limits under attack',
    fault:
      'The limits with two processes; 1,000 forged `X-Forwarded-For` headers; a whole IPv6 /64 network; a million addresses.',
    promise:
      'one address never gets more than 60 creations in any minute or 5 in any second, and table and memory stay bounded',
  },
  {
    row: 14,
    title: 'The last return of an allowance',
    fault:
      '200 callers of two processes want the last return of an allowance at once; the month ends in UTC.',
    promise: 'exactly one gets a 201',
  },
  {
    row: 15,
    title: 'One idempotency key, many requests',
    fault: 'The same `Idempotency-Key` 100 times at once, and through `kill -9`.',
    promise: 'there is one return and one event',
  },
  {
    row: 16,
    title: 'Two moves at once',
    fault: 'Pairs of moves at the same moment on the same return.',
    promise: 'no two events have the same type, id and timestamp',
  },
  {
    row: 17,
    title: 'Secrets and customers where they do not belong',
    fault:
      'Logs, metrics, error bodies, database and backup are searched for the keys, secrets, passwords and customers that the test created.',
    promise: 'none is found where it does not belong',
  },
  {
    row: 18,
    title: 'Ten minutes of mixed load',
    fault: 'Four shops create, move, list and search for ten minutes, 20 requests a second.',
    promise:
      'memory and file descriptors stop growing after the warm-up (less than 20 MB and 10 descriptors an hour), and the outbox is empty at the end',
    note: 'Memory in use is the heap after a garbage collection; memory held is what the operating system counts as resident. On 2026-11-18 a reader thread of SQLite prepared its statement anew for every search, and kept them all; since then each is prepared once. Over an hour with the same load memory held rises by 24 MB in the first seven minutes, by 10 MB in the next half-hour, and then stays between 165 and 173 MB.',
  },
  {
    row: 19,
    title: 'Full disks, lost keys, wrong clocks',
    fault:
      'A full disk, a read-only database, a damaged secret file, the wrong `SECRET_KEY`, a clock set back by an hour, a second process on one SQLite folder.',
    promise:
      'each causes one clear error, nothing is damaged, and the service continues once the cause is removed',
  },
  {
    row: 20,
    title: 'Concurrent starts and schema changes under load',
    fault: 'Two processes start at once on an empty database. A column is added to every table under load.',
    promise: 'both migrate and serve, and no response is a 5xx',
  },
];
