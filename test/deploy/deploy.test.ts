import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { readConfig } from '../../src/platform/config.ts';
import {
  COMPOSE,
  DEPLOY,
  KUBERNETES,
  type Manifest,
  ofKind,
  readDeploy,
  SHARED,
  settingsOf,
  theOnly,
} from '../support/deploy-files.ts';
import { ran, startServer, temporaryFolder } from '../support/process.ts';
import { needs, type Tool, toolPath } from '../support/tools.ts';
import { scaled } from '../support/until.ts';

// What can be checked of deploy/ without a cluster, a container engine or a running systemd.

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const operationsPage = (name: string): string =>
  readFileSync(join(ROOT, 'docs', 'operations', `${name}.md`), 'utf8');

/** Runs a tool; returns its whole output if it failed. */
const failureOf = (tool: Tool, args: string[], cwd = DEPLOY): string => {
  const { status, stdout, stderr } = spawnSync(toolPath(tool), args, {
    cwd,
    encoding: 'utf8',
    timeout: scaled(60_000),
  });
  return status === 0 ? '' : `${stdout}${stderr}` || `status ${status}`;
};

it('the samples for PostgreSQL on another machine check its certificate', () => {
  const samples = [readDeploy('handback.env'), readDeploy('kubernetes/kustomization.yaml')];
  for (const text of [...samples, operationsPage('postgresql')]) {
    const addresses = text.match(/postgres:\/\/[^\s'"]+\.example\.com[^\s'"]*/g) ?? [];
    expect(addresses.length).toBeGreaterThan(0);
    for (const address of addresses)
      expect(new URL(address).searchParams.get('sslmode'), address).toBe('verify-full');
  }
});

const SECRETS: Record<string, string> = {
  'database-url': 'postgres://handback:pw@database:5432/handback',
  'secret-key': 'k'.repeat(64),
  'metrics-token': 'm'.repeat(64),
};
/** Reads settings as the service would, with files for the secrets that they name. */
const configOf = (settings: Record<string, string>) => {
  const folder = temporaryFolder();
  const env = Object.entries(settings).map(([name, value]) => {
    if (!name.endsWith('_FILE')) return [name, value];
    const secret = value.split('/').at(-1) ?? '';
    writeFileSync(join(folder, secret), `${SECRETS[secret]}\n`);
    return [name, join(folder, secret)];
  });
  const known = new Set(operationsPage('configure').match(/(?<=`)[A-Z_]+(?=`)/g));
  expect(Object.keys(settings).filter((name) => !known.has(name) && name !== 'NODE_ENV')).toEqual([]);
  return readConfig(Object.fromEntries(env));
};

const expectTheSecrets = (config: ReturnType<typeof readConfig>) =>
  expect(config).toMatchObject({
    databaseUrl: SECRETS['database-url'],
    secretKeys: [SECRETS['secret-key']],
    metricsToken: SECRETS['metrics-token'],
    trustProxy: 1,
  });

/** A stop takes at most this long after SIGTERM: docs/operations/upgrade.md. */
const stopSeconds = (drainMs: number): number => Math.max(12, drainMs / 1000 + 8);

it('the instructions say what every file is for', () => {
  const readme = readDeploy('README.md');
  for (const name of readdirSync(DEPLOY).filter(
    (each) => !['README.md', '.gitignore', '.env', 'backups', 'secrets'].includes(each),
  ))
    expect(readme).toContain(name);
});

describe('compose.yaml', () => {
  it.each(['migrate', 'api-1', 'api-2', 'worker'])('%s has valid settings, and time to stop', (name) => {
    const service = COMPOSE.services[name];
    expect(service.environment.PUBLIC_URL).toMatch(/^\$\{PUBLIC_URL:\?/);
    const config = configOf({ ...service.environment, PUBLIC_URL: 'https://returns.example.com' });
    expect(config.role).toBe(name === 'migrate' ? 'all' : name.replace(/-\d/, ''));
    if (config.backups) expect(service.volumes).toEqual([`backups:${config.backups.folder}`]);
    expectTheSecrets(config);
    expect(Number.parseInt(service.stop_grace_period, 10)).toBeGreaterThan(stopSeconds(config.drainMs));
    expect(service.read_only).toBe(true);
  });
});

describe('kubernetes', () => {
  const kustomization = theOnly('Kustomization');

  /** The compiler's errors for manifests, by the types of the Kubernetes API. */
  const errorsIn = async (manifests: Manifest[]): Promise<string> => {
    const file = join(temporaryFolder(), 'manifests.ts');
    const types = join(ROOT, 'test', 'support', 'deploy-files.ts');
    const lines = manifests.map(
      (each, i) => `export const m${i}: Kinds['${each.kind}'] = ${JSON.stringify(each)};`,
    );
    writeFileSync(file, [`import type { Kinds } from '${types}';`, ...lines].join('\n'));
    const compiler = join(ROOT, 'node_modules', 'typescript', 'bin', 'tsc');
    const settings = ['--noEmit', '--strict', '--skipLibCheck', '--allowImportingTsExtensions'];
    const modern = ['--module', 'nodenext', '--target', 'es2024'];
    const more = ['--types', 'node', '--typeRoots', join(ROOT, 'node_modules', '@types')];
    const args = [compiler, ...settings, ...modern, ...more, file];
    return (await ran(process.execPath, args, { cwd: dirname(file) })).output;
  };

  it("has valid objects of the cluster's API", async () => {
    expect(KUBERNETES.length).toBeGreaterThan(9);
    expect(await errorsIn(KUBERNETES)).toBe('');
    const [api] = ofKind('Deployment') as [Manifest];
    const changed = (more: object) => ({ ...api, spec: { ...api['spec'], ...more } });
    const found = await errorsIn([changed({ replica: 2 }), changed({ replicas: '2' })]);
    expect(found).toMatch(/replica\W+ does not exist/);
    expect(found).toMatch(/'string' is not assignable to type 'number'/);
  });

  it('names only files, ports, claims, accounts and labels that exist', () => {
    const names = readdirSync(join(DEPLOY, 'kubernetes'));
    expect([...kustomization['resources'], 'kustomization.yaml', 'podmonitor.yaml'].sort()).toEqual(
      names.sort(),
    );
    const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
    expect(kustomization['images']).toMatchObject([{ name: 'handback', newTag: version }]);
    const claims = ofKind('PersistentVolumeClaim').map(({ metadata }) => metadata.name);
    for (const each of [...ofKind('Deployment'), ...ofKind('Job')]) {
      const { containers, volumes } = each['spec'].template.spec;
      expect(containers[0].image).toBe('handback');
      expect(containers[0].envFrom).toEqual([{ configMapRef: { name: 'handback' } }]);
      const mounted = containers[0].volumeMounts.map(({ name }: { name: string }) => name);
      expect(volumes.map(({ name }: { name: string }) => name)).toEqual(mounted);
      for (const { persistentVolumeClaim } of volumes)
        if (persistentVolumeClaim) expect(claims).toContain(persistentVolumeClaim.claimName);
    }
  });

  it.each([...ofKind('Deployment'), ...ofKind('Job')].map((each) => [each['metadata'].name, each] as const))(
    '%s has valid settings, secrets that the instructions create, and minimal rights',
    (_name, { spec: { template } }) => {
      const { containers, volumes, securityContext } = template.spec;
      const config = configOf(settingsOf(containers[0]));
      expectTheSecrets(config);
      expect(containers[0].securityContext).toMatchObject({ readOnlyRootFilesystem: true });
      expect(securityContext).toMatchObject({ runAsNonRoot: true });
      const { mountPath } = containers[0].volumeMounts.find(
        ({ name }: { name: string }) => name === 'secrets',
      );
      const wanted = Object.entries(SHARED).filter(([each]) => each.endsWith('_FILE'));
      const created = readDeploy('kubernetes/kustomization.yaml').match(/(?<=--from-literal=)[a-z-]+/g);
      expect(wanted.map(([, path]) => path.replace(`${mountPath}/`, ''))).toEqual(created);
      expect(volumes[0].secret.secretName).toBe('handback');
      if (config.backups)
        expect(containers[0].volumeMounts).toContainEqual({
          name: 'backups',
          mountPath: dirname(config.backups.folder),
        });
    },
  );

  it.each(ofKind('Deployment').map((each) => [each['metadata'].name, each['spec']] as const))(
    '%s has probes and time to stop',
    (_name, { selector, template }) => {
      const [{ startupProbe, readinessProbe, livenessProbe, ...container }] = template.spec.containers;
      const { drainMs } = configOf(settingsOf(container));
      expect(template.spec.terminationGracePeriodSeconds).toBeGreaterThan(stopSeconds(drainMs));
      expect(template.metadata.labels).toMatchObject(selector.matchLabels);
      const paths = [startupProbe, readinessProbe, livenessProbe].map(({ httpGet }) => httpGet.path);
      expect(paths).toEqual(['/healthz', '/readyz', '/healthz']);
    },
  );

  it('routes callers to the processes that serve requests, keeps at least one, and scrapes all of them', () => {
    const [api, worker] = ofKind('Deployment').map(({ spec }) => spec);
    const [service, budget, ingress, monitor, policy] = (
      ['Service', 'PodDisruptionBudget', 'Ingress', 'PodMonitor', 'NetworkPolicy'] as const
    ).map((kind) => theOnly(kind)['spec']);
    for (const selected of [service.selector, budget.selector.matchLabels])
      expect(api.template.metadata.labels).toMatchObject(selected);
    expect(budget.minAvailable).toBeLessThan(api.replicas);
    expect(ingress.rules[0].host).toBe(new URL(SHARED['PUBLIC_URL'] ?? '').host);
    expect(ingress.tls[0].hosts).toEqual([ingress.rules[0].host]);
    const { backend } = ingress.rules[0].http.paths[0];
    expect(backend.service).toEqual({ name: 'handback', port: { name: service.ports[0].name } });
    for (const { labels } of [api.template.metadata, worker.template.metadata]) {
      expect(labels).toMatchObject(monitor.selector.matchLabels);
      expect(labels).toMatchObject(policy.podSelector.matchLabels);
      expect(monitor.selector.matchExpressions[0].values).toContain(labels.role);
      // The job that the alerts ask for.
      expect(labels[monitor.jobLabel]).toBe('handback');
    }
  });

  it('is what kubectl builds', needs('kubectl'), () => {
    const { stdout, stderr, status } = spawnSync(toolPath('kubectl'), ['kustomize', 'kubernetes'], {
      cwd: DEPLOY,
      encoding: 'utf8',
      timeout: scaled(60_000),
    });
    expect({ stderr, status }).toEqual({ stderr: '', status: 0 });
    const built = parseAllDocuments(stdout).map((document) => document.toJS());
    const first = built.filter(({ metadata }) => metadata.labels?.upgrade === 'first');
    expect(first.map(({ kind }) => kind).sort()).toEqual(['ConfigMap', 'Job', 'NetworkPolicy']);
    const { name, newName, newTag } = kustomization['images'][0];
    expect(stdout).not.toMatch(new RegExp(`image: ${name}$`, 'm'));
    expect(stdout.match(new RegExp(`image: ${newName}:${newTag}$`, 'gm'))).toHaveLength(4);
  });
});

describe('handback@.service and its settings', () => {
  const unit = readDeploy('handback@.service');
  const settingsIn = (text: string): Record<string, string> =>
    Object.fromEntries([...text.matchAll(/^([A-Z_]+)='?(.*?)'?$/gm)].map(([, name, value]) => [name, value]));
  const empty = readDeploy('handback.env').replace('=SECRET\n', `=${SECRETS['secret-key']}\n`);
  const filled = empty.replace('=TOKEN\n', `=${SECRETS['metrics-token']}\n`);

  it('are valid on both databases, with time to stop', () => {
    expect(() => configOf(settingsIn(empty))).toThrow(/METRICS_TOKEN must have at least 16 characters/);
    const { drainMs, databaseUrl } = configOf(settingsIn(filled));
    expect(databaseUrl).toMatch(/^postgres:/);
    expect(Number(/TimeoutStopSec=(\d+)/.exec(unit)?.[1])).toBeGreaterThan(stopSeconds(drainMs));
    const onSqlite = filled.replace(/^(DATABASE_URL|SECRET_KEY)=.*$/gm, '');
    expect(configOf(settingsIn(onSqlite)).databaseUrl).toBeNull();
    const withAll = filled.replace(/^#(?=[A-Z])/gm, '').replace(/^BACKUP_RECIPIENT.*$/m, '');
    expect(configOf(settingsIn(withAll))).toMatchObject({ provider: { clientId: 'handback' } });
    expect(unit).toContain('EnvironmentFile=/etc/handback/env\n');
  });

  it('restarts however often it fails, a second after each failure', () => {
    const [head = '', rest = ''] = unit.split('[Service]');
    expect(head).toMatch(/^StartLimitIntervalSec=0$/m);
    expect(rest).toMatch(/^Restart=always\nRestartSec=1$/m);
  });

  it('is a valid systemd unit with a low exposure', needs('systemd-analyze'), () => {
    const folder = temporaryFolder();
    // Node may be in another folder on this machine.
    const file = join(folder, 'handback@3001.service');
    writeFileSync(file, unit.replaceAll('/usr/bin/node', process.execPath));
    expect(failureOf('systemd-analyze', ['verify', '--man=no', file])).toBe('');
    expect(failureOf('systemd-analyze', ['security', '--offline=true', '--threshold=20', file])).toBe('');
  });
});

describe('alerts and dashboard', () => {
  interface Rule {
    alert: string;
    expr: string;
    annotations: { what_to_do: string };
  }
  const rules: Rule[] = parse(readDeploy('prometheus/alerts.yaml')).groups.flatMap(
    (group: { rules: Rule[] }) => group.rules,
  );
  const dashboard = JSON.parse(readDeploy('grafana-dashboard.json'));
  const queries: string[] = dashboard.panels.flatMap(({ targets }: { targets: { expr: string }[] }) =>
    targets.map(({ expr }) => expr),
  );

  it('use only metrics that the service exports', async () => {
    const server = await startServer({ DATA_DIR: temporaryFolder() });
    await server.get('/healthz');
    const { body } = await server.get('/metrics', { ip: null });
    const printed = new Set(String(body).match(/^[a-z_]+(?=[ {])/gm));
    // Prometheus adds this one itself.
    printed.add('up');
    const typed = [...String(body).matchAll(/^# TYPE (\w+) (counter|gauge)/gm)].map(([, name]) => name ?? '');
    for (const name of typed) printed.add(name);
    const named = [...rules.map(({ expr }) => expr), ...queries, dashboard.templating.list[1].query].flatMap(
      (query) => query.match(/\b(up|(handback|process|nodejs)_\w+)/g) ?? [],
    );
    expect(named.length).toBeGreaterThan(20);
    expect(named.filter((name) => !printed.has(name))).toEqual([]);
  });

  it('use only labels that the service exports', () => {
    const labels = new Set(['job', 'instance', 'le', 'method', 'route', 'status', 'what', 'result']);
    const used = [...rules.map(({ expr }) => expr), ...queries].flatMap((query) => [
      ...(query.match(/\w+(?=(=~?|!=|!~)")/g) ?? []),
      ...[...query.matchAll(/by \(([\w, ]+)\)/g)].flatMap(([, names = '']) => names.split(', ')),
    ]);
    expect(used.filter((name) => !labels.has(name))).toEqual([]);
  });

  it.each(rules.map((rule) => [rule.alert, rule] as const))('%s says what to do', (name, rule) => {
    expect(rule.annotations.what_to_do).toBe(`docs/operations/on-call.md#${name.toLowerCase()}`);
    const section = operationsPage('on-call').split('\n## Alerts\n')[1] ?? '';
    expect(section).toMatch(new RegExp(`^### ${name}\\n\\n\\S`, 'm'));
  });

  it('fire when they should, and not when all is well', needs('promtool'), () => {
    expect(failureOf('promtool', ['check', 'rules', 'prometheus/alerts.yaml'])).toBe('');
    expect(failureOf('promtool', ['test', 'rules', 'prometheus/alerts.test.yaml'])).toBe('');
    const tried = parse(readDeploy('prometheus/alerts.test.yaml')).tests.map(
      ({ name }: { name: string }) => name,
    );
    expect(tried.filter((name: string) => name.startsWith('Handback'))).toEqual(
      rules.map(({ alert }) => alert),
    );
    expect(tried.slice(-1)).toEqual(['all is well']);
    // Prometheus accepts each query of the dashboard once its variables are filled in.
    const file = join(temporaryFolder(), 'queries.yaml');
    const asRules = queries.map((expr, i) => ({ record: `query_${i}`, expr: expr.replaceAll('$job', '.*') }));
    writeFileSync(file, JSON.stringify({ groups: [{ name: 'dashboard', rules: asRules }] }));
    expect(failureOf('promtool', ['check', 'rules', file])).toBe('');
  });
});
