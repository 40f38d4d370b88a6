import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { readConfig } from '../../src/service/config.ts';
import { startServer, temporaryFolder } from '../support/process.ts';
import { needs, type Tool, toolPath } from '../support/tools.ts';
import { scaled } from '../support/until.ts';

// What can be checked of deploy/ without a cluster, a container engine or a running systemd.

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const DEPLOY = join(ROOT, 'deploy');
const read = (...path: string[]): string => readFileSync(join(DEPLOY, ...path), 'utf8');
const OPERATIONS = readFileSync(join(ROOT, 'docs', 'operations.md'), 'utf8');

/** Runs a tool, and gives all that it said where it failed. */
const failureOf = (tool: Tool, args: string[], cwd = DEPLOY): string => {
  const { status, stdout, stderr } = spawnSync(toolPath(tool), args, {
    cwd,
    encoding: 'utf8',
    timeout: scaled(60_000),
  });
  return status === 0 ? '' : `${stdout}${stderr}` || `status ${status}`;
};

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
  const known = new Set(OPERATIONS.match(/(?<=`)[A-Z_]+(?=`)/g));
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

/** A stop ends so long after SIGTERM at the latest: docs/operations.md. */
const stopSeconds = (drainMs: number): number => Math.max(12, drainMs / 1000 + 8);

it('says of every file what it is for', () => {
  const readme = read('README.md');
  for (const name of readdirSync(DEPLOY).filter(
    (each) => !['README.md', '.gitignore', 'secrets'].includes(each),
  ))
    expect(readme).toContain(name);
});

describe('compose.yaml', () => {
  const compose = parse(read('compose.yaml'), { merge: true });

  it.each(['api-1', 'api-2', 'worker'])(
    '%s has settings that the service takes, and time to stop',
    (name) => {
      const service = compose.services[name];
      expect(service.environment.PUBLIC_URL).toMatch(/^\$\{PUBLIC_URL:\?/);
      const config = configOf({ ...service.environment, PUBLIC_URL: 'https://returns.example.com' });
      expect(config.role).toBe(name.replace(/-\d/, ''));
      expectTheSecrets(config);
      expect(Number.parseInt(service.stop_grace_period, 10)).toBeGreaterThan(stopSeconds(config.drainMs));
      expect(service.read_only).toBe(true);
    },
  );

  it('has the processes that the proxy knows, and the certificate where it looks', () => {
    const proxy = read('haproxy.cfg');
    expect(proxy.match(/(?<=^ {2}server \S+ )\S+(?=:3000$)/gm)).toEqual(['api-1', 'api-2']);
    expect(proxy).toContain(`crt /run/secrets/${compose.services.proxy.secrets[0]} `);
  });
});

it('compose.yaml names secrets and networks that it has', () => {
  const { services, ...has } = parse(read('compose.yaml'), { merge: true });
  for (const { secrets = [], networks } of Object.values<{ secrets?: string[]; networks: string[] }>(
    services,
  )) {
    expect(Object.keys(has.secrets)).toEqual(expect.arrayContaining(secrets));
    expect(Object.keys(has.networks)).toEqual(expect.arrayContaining(networks));
  }
});

describe('kubernetes.yaml', () => {
  const documents = parseAllDocuments(read('kubernetes.yaml')).map((document) => {
    expect(document.errors).toEqual([]);
    return document.toJS();
  });
  const ofKind = (kind: string) => documents.filter((each) => each.kind === kind);

  it.each(ofKind('Deployment').map((each) => [each.metadata.name, each.spec]))(
    '%s has settings that the service takes, probes, secrets and time to stop',
    (_name, { selector, template }) => {
      const { containers, volumes, terminationGracePeriodSeconds, securityContext } = template.spec;
      const [{ env, startupProbe, readinessProbe, livenessProbe, volumeMounts, ...container }] = containers;
      const [{ data }] = ofKind('ConfigMap');
      const own = Object.fromEntries(env.map(({ name, value }: Record<string, string>) => [name, value]));
      const config = configOf({ ...data, ...own });
      expectTheSecrets(config);
      expect(terminationGracePeriodSeconds).toBeGreaterThan(stopSeconds(config.drainMs));
      expect(template.metadata.labels).toMatchObject(selector.matchLabels);
      const paths = [startupProbe, readinessProbe, livenessProbe].map(({ httpGet }) => httpGet.path);
      expect(paths).toEqual(['/healthz', '/readyz', '/healthz']);
      expect(container.securityContext).toMatchObject({ readOnlyRootFilesystem: true });
      expect(securityContext).toMatchObject({ runAsNonRoot: true });
      const { mountPath } = volumeMounts.find((each: { name: string }) => each.name === 'secrets');
      const [{ stringData, metadata }] = ofKind('Secret');
      const files = Object.entries<string>(data).filter(([each]) => each.endsWith('_FILE'));
      expect(Object.keys(stringData)).toEqual(
        expect.arrayContaining(files.map(([, path]) => path.replace(`${mountPath}/`, ''))),
      );
      expect(volumes[0].secret.secretName).toBe(metadata.name);
    },
  );

  it('leads to the processes that answer, and keeps one of them', () => {
    const [api] = ofKind('Deployment');
    const [budget] = ofKind('PodDisruptionBudget');
    for (const selected of [ofKind('Service')[0].spec.selector, budget.spec.selector.matchLabels])
      expect(api.spec.template.metadata.labels).toMatchObject(selected);
    expect(budget.spec.minAvailable).toBeLessThan(api.spec.replicas);
  });
});

describe('handback.service', () => {
  const unit = read('handback.service');
  const settingsIn = (text: string): Record<string, string> =>
    Object.fromEntries(
      [...text.matchAll(/^Environment=(.*)$/gm)].flatMap(([, pairs = '']) =>
        pairs.split(' ').map((pair) => pair.split(/=(.*)/s).slice(0, 2)),
      ),
    );

  it('has settings that the service takes, on either database, and time to stop', () => {
    const { drainMs, databaseUrl } = configOf(settingsIn(unit));
    expect(databaseUrl).toBeNull();
    expect(Number(/TimeoutStopSec=(\d+)/.exec(unit)?.[1])).toBeGreaterThan(stopSeconds(drainMs));
    const onPostgres = configOf(settingsIn(unit.replace(/^#(LoadCredential|Environment)/gm, '$1')));
    expect(onPostgres.databaseUrl).toBe(SECRETS['database-url']);
  });

  it('is one that systemd takes, and exposes little', needs('systemd-analyze'), () => {
    const folder = temporaryFolder();
    // Node may be elsewhere on this machine.
    const file = join(folder, 'handback.service');
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
  const rules: Rule[] = parse(read('prometheus', 'alerts.yaml')).groups.flatMap(
    (group: { rules: Rule[] }) => group.rules,
  );
  const dashboard = JSON.parse(read('grafana-dashboard.json'));
  const queries: string[] = dashboard.panels.flatMap(({ targets }: { targets: { expr: string }[] }) =>
    targets.map(({ expr }) => expr),
  );

  it('ask only for figures that the service prints', async () => {
    const server = await startServer({ DATA_DIR: temporaryFolder() });
    await server.get('/healthz');
    const { body } = await server.get('/metrics', { ip: '127.0.0.1' });
    const printed = new Set(String(body).match(/^[a-z_]+(?=[ {])/gm));
    // Prometheus makes this one itself.
    printed.add('up');
    const typed = [...String(body).matchAll(/^# TYPE (\w+) (counter|gauge)/gm)].map(([, name]) => name ?? '');
    for (const name of typed) printed.add(name);
    const named = [...rules.map(({ expr }) => expr), ...queries, dashboard.templating.list[1].query].flatMap(
      (query) => query.match(/\b(up|(handback|process|nodejs)_\w+)/g) ?? [],
    );
    expect(named.length).toBeGreaterThan(20);
    expect(named.filter((name) => !printed.has(name))).toEqual([]);
  });

  it('name no label that the service does not print', () => {
    const labels = new Set(['job', 'instance', 'le', 'method', 'route', 'status', 'what', 'result']);
    const used = [...rules.map(({ expr }) => expr), ...queries].flatMap((query) => [
      ...(query.match(/\w+(?=(=~?|!=|!~)")/g) ?? []),
      ...[...query.matchAll(/by \(([\w, ]+)\)/g)].flatMap(([, names = '']) => names.split(', ')),
    ]);
    expect(used.filter((name) => !labels.has(name))).toEqual([]);
  });

  it.each(rules.map((rule) => [rule.alert, rule] as const))('%s says what to do', (name, rule) => {
    expect(rule.annotations.what_to_do).toBe(`docs/operations.md#${name.toLowerCase()}`);
    const section = OPERATIONS.split('\n## Alerts, and what to do for each\n')[1] ?? '';
    expect(section).toMatch(new RegExp(`^### ${name}\\n\\n\\S`, 'm'));
  });

  it('fire where they should, and not where all is well', needs('promtool'), () => {
    expect(failureOf('promtool', ['check', 'rules', 'prometheus/alerts.yaml'])).toBe('');
    expect(failureOf('promtool', ['test', 'rules', 'prometheus/alerts.test.yaml'])).toBe('');
    const tried = parse(read('prometheus', 'alerts.test.yaml')).tests.map(
      ({ name }: { name: string }) => name,
    );
    expect(tried).toEqual([...rules.map(({ alert }) => alert), 'all is well']);
    // A dashboard's query, with its variables filled in, is one that Prometheus understands.
    const file = join(temporaryFolder(), 'queries.yaml');
    const asRules = queries.map((expr, i) => ({ record: `query_${i}`, expr: expr.replaceAll('$job', '.*') }));
    writeFileSync(file, JSON.stringify({ groups: [{ name: 'dashboard', rules: asRules }] }));
    expect(failureOf('promtool', ['check', 'rules', file])).toBe('');
  });
});
