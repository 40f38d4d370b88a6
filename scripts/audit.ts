import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

// Asks the registry for known faults in the packages that run in production. A high or critical one fails. A registry that cannot be
// asked (offline, or a mirror without that service) fails nobody, but is said loudly: nothing was checked then.

interface Report {
  metadata?: { vulnerabilities: Record<string, number> };
  vulnerabilities?: Record<string, { name: string; severity: string; range: string }>;
  message?: string;
  error?: { summary?: string };
}

const GRAVE = ['high', 'critical'];

const parsed = (text: string): Report => {
  try {
    return JSON.parse(text);
  } catch {
    return {};
  }
};

const { stdout } = spawnSync(
  'npm',
  ['audit', '--json', '--omit=dev', '--package-lock-only', '--audit-level=high'],
  {
    cwd: fileURLToPath(new URL('..', import.meta.url)),
    encoding: 'utf8',
    shell: process.platform === 'win32',
  },
);
const { metadata, vulnerabilities = {}, message, error } = parsed(stdout ?? '');
const say = (line: string) => process.stdout.write(`${line}\n`);

if (!metadata) {
  const reason = message ?? error?.summary ?? 'no answer';
  say(
    `WARNING: DEPENDENCIES NOT AUDITED. The registry could not be asked: ${reason.replaceAll(/https?:\/\/\S+/g, '…')}`,
  );
} else {
  const grave = Object.values(vulnerabilities).filter(({ severity }) => GRAVE.includes(severity));
  for (const { name, severity, range } of grave)
    say(`${severity}: ${name} ${range} (npm audit --omit=dev says more)`);
  const counts = Object.entries(metadata.vulnerabilities).map(([severity, count]) => `${count} ${severity}`);
  say(`dependencies audited: ${counts.join(', ')}`);
  if (grave.length > 0) process.exitCode = 1;
}
