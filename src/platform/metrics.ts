import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from '@prometheus-io/client';

const LATENCY_BUCKETS_S = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5];

export type Metrics = ReturnType<typeof createMetrics>;

/** Both results exist from the start, so that the first failed mail is an increase. */
const mailCounter = (registers: Registry[]): Counter<'result'> => {
  const help = 'Mails by result: sent, or failed (given up).';
  const mails = new Counter({ name: 'handback_mails_total', help, labelNames: ['result'], registers });
  for (const result of ['sent', 'failed']) mails.inc({ result }, 0);
  return mails;
};

/** Each context has its own registry, so that two apps in one process do not share counters. */
export const createMetrics = () => {
  const registry = new Registry();
  const registers = [registry];
  // The precision is in milliseconds. With the default of 10, its timer is most of the work of an idle process.
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: 50 });
  const counter = <Label extends string>(name: string, help: string, labelNames: Label[] = []) =>
    new Counter({ name, help, labelNames, registers });
  const histogram = <Label extends string>(
    name: string,
    help: string,
    { labelNames = [] as Label[], buckets = LATENCY_BUCKETS_S } = {},
  ) => new Histogram({ name, help, labelNames, buckets, registers });
  return {
    registry,
    mails: mailCounter(registers),
    requests: histogram(
      'handback_http_request_duration_seconds',
      'Time to answer a request, by method, route and status.',
      { labelNames: ['method', 'route', 'status'] },
    ),
    queries: histogram('handback_database_query_duration_seconds', 'Time of one database query.'),
    failedQueries: counter('handback_database_query_failures_total', 'Database queries that failed.'),
    databaseErrors: counter(
      'handback_database_errors_total',
      'What went wrong between this process and the database without failing a request, by what it was.',
      ['what'],
    ),
    attempts: counter(
      'handback_webhook_attempts_total',
      'Webhook attempts by result: acknowledged (2xx), refused (another status), failed (no response).',
      ['result'],
    ),
    deliveries: histogram(
      'handback_webhook_delivery_duration_seconds',
      'From the commit of a change to the acknowledgement of its event.',
      { buckets: [...LATENCY_BUCKETS_S, 10, 30, 60] },
    ),
    droppedDeliveries: counter(
      'handback_webhook_deliveries_dropped_total',
      'Webhook deliveries that were given up; each says why in its reason.',
    ),
    refusedResults: counter(
      'handback_webhook_results_refused_total',
      'Results of webhook attempts that the database refused; these deliveries are sent again after a restart.',
    ),
    failedErasures: counter(
      'handback_erasure_failures_total',
      'Steps of erasures that failed; each is tried again within ten minutes.',
    ),
    failedBackups: counter('handback_backup_failures_total', 'Backups of the schedule that failed.'),
    droppedLines: counter('handback_log_lines_dropped_total', 'Log lines that standard output did not take.'),
    /** Requests in progress, without those that wait for an event. */
    openRequests: 0,
    /** Adds a gauge that calls `read` at each scrape. */
    watch: (name: string, help: string, read: () => Promise<number>): void =>
      void new Gauge({
        name,
        help,
        registers,
        async collect() {
          // The other metrics must be available while the database is not.
          this.set(await read().catch(() => Number.NaN));
        },
      }),
  };
};
