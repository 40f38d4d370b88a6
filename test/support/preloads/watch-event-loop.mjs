import { writeFileSync } from 'node:fs';

// Loaded before the service: on SIGWINCH it writes down for how long the event loop was blocked at most since the last time, by
// the clock and by the work of its own thread. The latter says what the service did where other processes take the machine.

const EVERY_MS = 5;
let times = 0;
let most = { clockMs: 0, workMs: 0 };
let lastAt = performance.now();
let lastWork = process.threadCpuUsage();

setInterval(() => {
  const { user, system } = process.threadCpuUsage(lastWork);
  const clockMs = performance.now() - lastAt - EVERY_MS;
  most = {
    clockMs: Math.max(most.clockMs, clockMs),
    workMs: Math.max(most.workMs, Math.min(clockMs, (user + system) / 1000)),
  };
  lastAt = performance.now();
  lastWork = process.threadCpuUsage();
}, EVERY_MS).unref();

process.on('SIGWINCH', () => {
  times += 1;
  writeFileSync(process.env.TEST_EVENT_LOOP_FILE, JSON.stringify({ times, told: most }));
  most = { clockMs: 0, workMs: 0 };
});
