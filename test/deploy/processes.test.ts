// engines: postgres

import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { commandsIn, ofKind, readDeploy, settingsOf, theOnly } from '../support/deploy-files.ts';
import {
  type Env,
  emptyDatabase,
  run,
  SECRET_KEY,
  startServer,
  temporaryFolder,
} from '../support/process.ts';
import { until } from '../support/until.ts';

// The processes of deploy/kubernetes/, with their own commands and settings, on an empty PostgreSQL: only folders, and the address of the
// database, are this machine's.

const TOKEN = 'm'.repeat(64);

/** Folders as in the containers. */
const containerFolders = async () => {
  const root = temporaryFolder();
  for (const folder of ['run/secrets/handback', 'backups'])
    mkdirSync(join(root, folder), { recursive: true });
  // Kubernetes mounts a volume for a group; Compose keeps the mode of the image's folder.
  const own = join(root, 'backups');
  chmodSync(own, 0o700);
  const { DATABASE_URL = '' } = await emptyDatabase();
  const secrets = { 'database-url': DATABASE_URL, 'secret-key': SECRET_KEY, 'metrics-token': TOKEN };
  for (const folder of ['run/secrets', 'run/secrets/handback'])
    for (const [name, value] of Object.entries(secrets))
      writeFileSync(join(root, folder, name), `${value}\n`, { mode: 0o600 });
  const inside = (settings: Env): Env => ({
    ...Object.fromEntries(
      Object.entries(settings).map(([name, value = '']) => [
        name,
        /^\/(run|backups)/.test(value) ? join(root, value) : value,
      ]),
    ),
    PUBLIC_URL: 'https://returns.example.com',
    DATA_DIR: join(root, 'data'),
    DRAIN_SECONDS: '0',
  });
  const backups = () => readdirSync(own, { recursive: true }).map(String);
  const prepare = ([program, ...args]: string[]): void => {
    chmodSync(own, 0o2770);
    expect(program).toBe('node');
    execFileSync(
      process.execPath,
      args.map((arg) => arg.replaceAll('/backups', own)),
    );
  };
  return { inside, backups, prepare };
};

const [API, WORKER] = ofKind('Deployment').map(({ spec }) => spec.template.spec.containers[0]);
const [BEFORE] = ofKind('Deployment').flatMap(({ spec }) => spec.template.spec.initContainers ?? []);
const JOB = theOnly('Job')['spec'].template.spec.containers[0];
/** A command of the instructions, in one of the pods. */
const COMMANDS = commandsIn(readDeploy('kubernetes/kustomization.yaml'));

it('the processes for Kubernetes migrate, serve, respond to probes and scrapes, take a backup, and run the commands of the instructions', async () => {
  const { inside, backups, prepare } = await containerFolders();
  prepare(BEFORE.command);
  expect(await run(JOB.args, inside(settingsOf(JOB)))).toMatchObject({ status: 0, stderr: '' });
  const servers = await Promise.all([
    startServer(inside(settingsOf(API))),
    startServer(inside(settingsOf(WORKER))),
  ]);
  const [{ path, authorization }] = theOnly('PodMonitor')['spec'].podMetricsEndpoints;
  for (const server of servers) {
    for (const { httpGet } of [API.startupProbe, API.readinessProbe, API.livenessProbe])
      expect(await server.get(httpGet.path)).toHaveStatus(200);
    expect(await server.get(path)).toHaveStatus(401);
    const headers = { authorization: `${authorization.type} ${TOKEN}` };
    expect(await server.get(path, { headers })).toHaveStatus(200);
    // The Job has already migrated the database.
    expect(server.stdout).not.toMatch(/migrat/i);
  }
  await until('the backup is there', () => backups().some((name) => /\.backup$/.test(name)));

  expect(COMMANDS.map(([name]) => name)).toEqual(['shop', 'doctor']);
  for (const args of COMMANDS) {
    const settings = inside(settingsOf(args[0] === 'doctor' ? WORKER : API));
    const { status, stdout, stderr } = await run(args, settings);
    expect({ status, stderr, stdout }).toMatchObject({ status: 0, stderr: '' });
  }
  for (const server of servers) expect(await server.stop()).toMatchObject({ status: 0 });
});
