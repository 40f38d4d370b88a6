// engines: postgres

import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { COMPOSE, commandsIn, ofKind, readDeploy, settingsOf, theOnly } from '../support/deploy-files.ts';
import {
  type Env,
  emptyDatabase,
  run,
  SECRET_KEY,
  startServer,
  temporaryFolder,
} from '../support/process.ts';
import { until } from '../support/until.ts';

// The processes of compose.yaml and kubernetes/, with their own commands and settings, on an empty PostgreSQL: only folders, and the
// address of the database, are this machine's.

const TOKEN = 'm'.repeat(64);

/** Folders as the containers have them. */
const containerFolders = async () => {
  const root = temporaryFolder();
  for (const folder of ['run/secrets/handback', 'backups'])
    mkdirSync(join(root, folder), { recursive: true });
  // As Kubernetes mounts a volume for a group; Compose takes the rights of the image's folder.
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

interface Processes {
  migrate: { args: string[]; settings: Env };
  api: Env;
  worker: Env;
  /** Runs before the worker. */
  before?: string[];
  /** What the instructions have the operator run in one of them. */
  commands: string[][];
}

const COMPOSED = COMPOSE.services;
const [API, WORKER] = ofKind('Deployment').map(({ spec }) => spec.template.spec.containers[0]);
const [BEFORE] = ofKind('Deployment').flatMap(({ spec }) => spec.template.spec.initContainers ?? []);
const JOB = theOnly('Job')['spec'].template.spec.containers[0];

const DEPLOYMENTS: [string, Processes][] = [
  [
    'compose.yaml',
    {
      migrate: { args: COMPOSED.migrate.command, settings: COMPOSED.migrate.environment },
      api: COMPOSED['api-1'].environment,
      worker: COMPOSED.worker.environment,
      commands: commandsIn(readDeploy('compose.yaml')),
    },
  ],
  [
    'kubernetes',
    {
      migrate: { args: JOB.args, settings: settingsOf(JOB) },
      api: settingsOf(API),
      worker: settingsOf(WORKER),
      before: BEFORE.command,
      commands: commandsIn(readDeploy('kubernetes/kustomization.yaml')),
    },
  ],
];

describe.each(DEPLOYMENTS)('%s', (_name, { migrate, api, worker, before, commands }) => {
  it('migrates, serves, answers probes and scrapes, takes a backup, and runs the commands of its instructions', async () => {
    const { inside, backups, prepare } = await containerFolders();
    if (before) prepare(before);
    expect(await run(migrate.args, inside(migrate.settings))).toMatchObject({ status: 0, stderr: '' });
    const servers = await Promise.all([startServer(inside(api)), startServer(inside(worker))]);
    const [{ path, authorization }] = theOnly('PodMonitor')['spec'].podMetricsEndpoints;
    for (const server of servers) {
      for (const { httpGet } of [API.startupProbe, API.readinessProbe, API.livenessProbe])
        expect(await server.get(httpGet.path)).toHaveStatus(200);
      expect(await server.get(path)).toHaveStatus(401);
      const headers = { authorization: `${authorization.type} ${TOKEN}` };
      expect(await server.get(path, { headers })).toHaveStatus(200);
      // The Job has left nothing for the start to do.
      expect(server.stdout).not.toMatch(/migrat/i);
    }
    await until('the backup is there', () => backups().some((name) => /\.backup$/.test(name)));

    expect(commands.map(([name]) => name)).toEqual(['shop', 'doctor']);
    for (const args of commands) {
      const settings = inside(args[0] === 'doctor' ? worker : api);
      const { status, stdout, stderr } = await run(args, settings);
      expect({ status, stderr, stdout }).toMatchObject({ status: 0, stderr: '' });
    }
    for (const server of servers) expect(await server.stop()).toMatchObject({ status: 0 });
  });
});
