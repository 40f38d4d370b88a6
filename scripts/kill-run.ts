import { spawnSync } from 'node:child_process';

// The long form of the suite's kill test: npm run test:kills -- 30

const kills = process.argv[2] ?? '25';
const { status } = spawnSync('npx', ['vitest', 'run', 'test/faults/webhook-kills.test.ts'], {
  env: { ...process.env, KILLS: kills },
  stdio: 'inherit',
  shell: process.platform === 'win32',
});
process.exitCode = status ?? 1;
