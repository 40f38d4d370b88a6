import { writeFileSync } from 'node:fs';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

// Loaded before the service: on SIGWINCH it collects all garbage, has V8 give back what it can, and writes down what memory is still
// in use and held. Otherwise that depends on when V8 last had a reason to collect.

const MB = 1024 ** 2;
setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc');
let times = 0;

process.on('SIGWINCH', () => {
  collect({ type: 'major', execution: 'sync', flavor: 'last-resort' });
  const { heapUsed, external, rss } = process.memoryUsage();
  times += 1;
  writeFileSync(
    process.env.TEST_MEMORY_FILE,
    JSON.stringify({ times, told: { inUseMb: (heapUsed + external) / MB, residentMb: rss / MB } }),
  );
});
