import { spawnSync } from 'node:child_process';

// The long form of a test that is short in the suite: how often, or how much, is in a variable that the test reads.
// npm run test:feed -- 5000

const [variable = '', project = '', file = '', usual = '', count = usual] = process.argv.slice(2);
const projects = project === 'both' ? [] : ['--project', project];
const { status } = spawnSync('npx', ['vitest', 'run', '--mode', 'all', ...projects, file], {
  env: { ...process.env, [variable]: count },
  stdio: 'inherit',
  shell: process.platform === 'win32',
});
process.exitCode = status ?? 1;
