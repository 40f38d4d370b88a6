import { readFileSync } from 'node:fs';
import autocannon from 'autocannon';
import { percentile } from '../figures.ts';
import type { AutocannonJob } from './autocannon.ts';

// autocannon as a process of its own. Its own percentiles are whole milliseconds, so times are gathered here.

const { url, requests, connections, seconds } = JSON.parse(
  readFileSync(process.argv[2] as string, 'utf8'),
) as AutocannonJob;

let client = 0;
const times: number[] = [];
const run = autocannon(
  {
    url,
    connections,
    duration: seconds,
    timeout: 10,
    setupClient(connection) {
      // Each connection has a share of its own, so that no address is called from twice at once.
      connection.setRequests(requests.filter((_, i) => i % connections === client % connections));
      client += 1;
    },
  },
  (error, result) => {
    if (error) throw error;
    process.stdout.write(
      `${JSON.stringify({
        requests: times.length,
        seconds: result.duration,
        failures: result.non2xx + result.errors + result.timeouts,
        p50Ms: percentile(times, 0.5),
        p99Ms: percentile(times, 0.99),
      })}\n`,
    );
  },
);
run.on('response', (_client, _status, _bytes, ms) => times.push(ms));
