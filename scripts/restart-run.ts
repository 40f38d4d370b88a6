import { spawnSync } from 'node:child_process';

// The long form of the suite's rolling restarts: npm run test:restarts -- 20

const restarts = process.argv[2] ?? '20';
const { status } = spawnSync(
  'npx',
  ['vitest', 'run', '--project', 'postgres', 'test/faults/rolling-restart.test.ts'],
  { env: { ...process.env, RESTARTS: restarts }, stdio: 'inherit', shell: process.platform === 'win32' },
);
process.exitCode = status ?? 1;
