import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from '@prometheus-io/client';

const LATENCY_BUCKETS_S = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5];

export interface Metrics {
  registry: Registry;
  /** To be told of every request's beginning and end, whatever becomes of it. */
  beginRequest(): void;
  endRequest(): void;
  /** A request that waits for something to happen is not under way meanwhile. */
  pauseRequest(): void;
  resumeRequest(): void;
  requestsUnderWay(): number;
  observeRequest(labels: { method: string; route: string; status: number }, seconds: number): void;
  observeQuery(durationMs: number, failed: boolean): void;
  /** Something went wrong between this process and the database that no caller was told of. */
  observeDatabaseFault(what: string): void;
  observeAttempt(result: 'acknowledged' | 'refused' | 'failed'): void;
  observeDelivery(seconds: number): void;
  observeDroppedDeliveries(count: number): void;
  observeRefusedResult(): void;
  observeDroppedLines(count: number): void;
  /** Asked for at each scrape. */
  watch(name: string, help: string, read: () => Promise<number>): void;
}

const createInstruments = (registers: Registry[]) => ({
  requests: new Histogram({
    name: 'handback_http_request_duration_seconds',
    help: 'Time to answer a request, by method, route and status.',
    labelNames: ['method', 'route', 'status'],
    buckets: LATENCY_BUCKETS_S,
    registers,
  }),
  queries: new Histogram({
    name: 'handback_database_query_duration_seconds',
    help: 'Time of one database query.',
    buckets: LATENCY_BUCKETS_S,
    registers,
  }),
  failures: new Counter({
    name: 'handback_database_query_failures_total',
    help: 'Database queries that failed.',
    registers,
  }),
  faults: new Counter({
    name: 'handback_database_faults_total',
    help: 'What went wrong between this process and the database without failing a request, by what it was.',
    labelNames: ['what'],
    registers,
  }),
  attempts: new Counter({
    name: 'handback_webhook_attempts_total',
    help: 'Webhook attempts by result: acknowledged (2xx), refused (another status), failed (no answer).',
    labelNames: ['result'],
    registers,
  }),
  deliveries: new Histogram({
    name: 'handback_webhook_delivery_duration_seconds',
    help: 'From the commit of a change to the acknowledgement of its event.',
    buckets: [...LATENCY_BUCKETS_S, 10, 30, 60],
    registers,
  }),
  droppedDeliveries: new Counter({
    name: 'handback_webhook_deliveries_dropped_total',
    help: 'Webhook deliveries that were given up; each says why in its reason.',
    registers,
  }),
  refusedResults: new Counter({
    name: 'handback_webhook_results_refused_total',
    help: 'Results of webhook attempts that the database refused; these deliveries are sent again after a restart.',
    registers,
  }),
  droppedLines: new Counter({
    name: 'handback_log_lines_dropped_total',
    help: 'Log lines that standard output did not take.',
    registers,
  }),
});

/** One registry a context, so that two apps in one process never share a counter. */
export const createMetrics = (): Metrics => {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const registers = [registry];
  const { requests, queries, failures, faults, attempts, deliveries, refusedResults, ...dropped } =
    createInstruments(registers);
  let underWay = 0;
  return {
    registry,
    observeDatabaseFault: (what) => faults.inc({ what }),
    observeDroppedLines: (count) => dropped.droppedLines.inc(count),
    observeRefusedResult: () => refusedResults.inc(),
    observeDroppedDeliveries: (count) => dropped.droppedDeliveries.inc(count),
    observeAttempt: (result) => attempts.inc({ result }),
    observeDelivery: (seconds) => deliveries.observe(seconds),
    watch: (name, help, read) =>
      void new Gauge({
        name,
        help,
        registers,
        async collect() {
          // The other figures must come also while the database is away.
          this.set(await read().catch(() => Number.NaN));
        },
      }),
    beginRequest() {
      underWay += 1;
    },
    endRequest() {
      underWay -= 1;
    },
    pauseRequest() {
      underWay -= 1;
    },
    resumeRequest() {
      underWay += 1;
    },
    requestsUnderWay: () => underWay,
    observeRequest: (labels, seconds) => requests.observe(labels, seconds),
    observeQuery: (durationMs, failed) => {
      queries.observe(durationMs / 1000);
      if (failed) failures.inc();
    },
  };
};
