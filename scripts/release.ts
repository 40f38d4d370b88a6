import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { installPackage, serve } from './installed-package.ts';
import { readDocuments } from './openapi-documents.ts';
import {
  breakingChanges,
  changedMigrations,
  changesOf,
  migrationDigests,
  RELEASED_API,
  RELEASED_MIGRATIONS,
} from './released.ts';

// npm run release: everything that is published of a version, into dist/release/, and what later versions are compared with, into
// test/released/. Its last step installs the package into an empty folder and starts it. --draft only writes dist/release/, whatever
// the state of the checkout; --no-build takes dist/ as it is.

// biome-ignore lint/suspicious/noExplicitAny: a JSON document
type Json = any;

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const onWindows = process.platform === 'win32';
const MOST_BYTES = 8_000_000;
const MOST_INSTALLED_MB = 120;

const { values: options } = parseArgs({
  options: {
    draft: { type: 'boolean', default: false },
    'no-build': { type: 'boolean', default: false },
    output: { type: 'string', default: join(ROOT, 'dist', 'release') },
  },
});
const output = resolve(options.output);

const read = (...path: string[]): string => readFileSync(join(ROOT, ...path), 'utf8');
const asJson = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`;
const execute = (program: string, args: string[], cwd = ROOT): string =>
  execFileSync(program, args, {
    cwd,
    encoding: 'utf8',
    maxBuffer: 2 ** 26,
    shell: onWindows,
  });
const say = (line: string) => process.stdout.write(`${line}\n`);

const about = JSON.parse(read('package.json'));
const { version } = about;
const changes = changesOf(read('CHANGELOG.md'), version);
const migrations = migrationDigests();
const { external } = await readDocuments('https://returns.example.com');
const openApi = asJson(external);
const staging = mkdtempSync(join(tmpdir(), 'handback-release-'));
process.once('exit', () => rmSync(staging, { recursive: true, force: true }));

const faults = (): string[] => {
  const found: string[] = [];
  if (!changes?.date) found.push(`CHANGELOG.md needs "## [${version}] - YYYY-MM-DD" with the changes`);
  if (!read('deploy', 'Dockerfile').includes(`ARG VERSION=${version}\n`))
    found.push(`deploy/Dockerfile needs ARG VERSION=${version}`);
  if (!read('deploy', 'kubernetes', 'kustomization.yaml').includes(`newTag: ${version}\n`))
    found.push(`deploy/kubernetes/kustomization.yaml needs newTag: ${version}`);
  if (execute('git', ['status', '--porcelain']) !== '')
    found.push('the checkout has changes that are not committed');
  const tagsOf = (...query: string[]): string[] =>
    execute('git', ['tag', ...query])
      .split('\n')
      .filter(Boolean);
  const tagsHere = tagsOf('--points-at', 'HEAD', '--list', 'v*');
  const tag = `v${version}`;
  if (tagsOf('--list', tag).length > 0 && !tagsHere.includes(tag))
    found.push(`${tag} is another commit: raise the version`);
  for (const other of tagsHere)
    if (other !== tag) found.push(`this commit is ${other}, and package.json says ${version}`);
  if (existsSync(RELEASED_MIGRATIONS))
    found.push(...changedMigrations(JSON.parse(readFileSync(RELEASED_MIGRATIONS, 'utf8')), migrations));
  if (existsSync(RELEASED_API)) {
    const file = join(staging, 'openapi.json');
    writeFileSync(file, openApi);
    found.push(...breakingChanges(RELEASED_API, file));
  }
  if (
    found.length === 0 &&
    spawnSync('npm', ['run', 'check'], { cwd: ROOT, stdio: 'inherit', shell: onWindows }).status !== 0
  )
    found.push('npm run check fails');
  return found;
};

/** Where npm finds a package that another one asks for: beside it, or further up. */
const placeOf = (packages: Json, from: string, name: string): string | undefined => {
  for (let at = from; ; at = at.slice(0, Math.max(0, at.lastIndexOf('/node_modules/')))) {
    const place = at === '' ? `node_modules/${name}` : `${at}/node_modules/${name}`;
    if (packages[place] || at === '') return packages[place] && place;
  }
};

/** The exact packages of production, as an installation takes them: not those for development, nor those of recipes. */
const shrinkwrap = ({ name, license, bin, engines, dependencies }: Json): Json => {
  const { lockfileVersion, packages } = JSON.parse(read('package-lock.json'));
  const kept = new Map<string, Json>();
  const keep = (from: string, needed: Json): void => {
    const { dependencies: needs, optionalDependencies, peerDependencies } = needed;
    for (const each of Object.keys({ ...needs, ...optionalDependencies, ...peerDependencies })) {
      const place = placeOf(packages, from, each);
      if (!place || kept.has(place) || packages[place].dev) continue;
      kept.set(place, packages[place]);
      keep(place, packages[place]);
    }
  };
  keep('', { dependencies });
  const own = { name, version, license, dependencies, bin, engines };
  const sorted = Object.fromEntries([...kept].sort(([one], [other]) => (one < other ? -1 : 1)));
  return { name, version, lockfileVersion, requires: true, packages: { '': own, ...sorted } };
};

/** Where the workflow runs that publishes: npm compares it with the provenance. */
const repository = () => {
  const { GITHUB_SERVER_URL: server, GITHUB_REPOSITORY: name } = process.env;
  return server && name ? { repository: { type: 'git', url: `git+${server}/${name}.git` } } : {};
};

/** What `npm pack` packs here, without what is of use in a checkout only, and with the versions of all packages. */
const stagePackage = (folder: string): void => {
  const pack = ['pack', '--ignore-scripts', '--silent', '--pack-destination', folder];
  execute('npm', pack);
  // npm sbom takes the name of the folder.
  mkdirSync(join(folder, 'handback'));
  execute('tar', ['-xzf', `handback-${version}.tgz`, '-C', 'handback', '--strip-components=1'], folder);
  const {
    devDependencies: _dev,
    workspaces: _workspaces,
    scripts: _scripts,
    overrides: _overrides,
    allowScripts: _allow,
    // A checkout is not published by mistake.
    private: _private,
    ...rest
  } = about;
  const manifest = { ...rest, ...repository(), files: [...about.files, 'npm-shrinkwrap.json'] };
  writeFileSync(join(folder, 'handback', 'package.json'), asJson(manifest));
  writeFileSync(join(folder, 'handback', 'npm-shrinkwrap.json'), asJson(shrinkwrap(manifest)));
};

const writePackage = (folder: string): string => {
  const pack = ['pack', '--ignore-scripts', '--silent', '--json', '--pack-destination', output];
  const [{ filename, size, files }] = JSON.parse(execute('npm', pack, folder));
  const paths: string[] = files.map(({ path }: { path: string }) => path);
  if (size > MOST_BYTES) throw new Error(`${filename} has ${size} bytes, more than ${MOST_BYTES}`);
  if (!paths.includes('npm-shrinkwrap.json')) throw new Error(`${filename} has no npm-shrinkwrap.json`);
  const foreign = paths.find((path) => /node_modules|secrets\/|(^|\/)\.env$/.test(path));
  if (foreign) throw new Error(`${filename} has ${foreign}`);
  return filename;
};

/** For `docker build - < FILE`. */
const writeImageContext = (folder: string, tarball: string): void => {
  mkdirSync(folder);
  copyFileSync(join(output, tarball), join(folder, tarball));
  copyFileSync(join(ROOT, 'deploy', 'Dockerfile'), join(folder, 'Dockerfile'));
  execute('tar', ['-czf', join(output, `handback-${version}-image.tar.gz`), 'Dockerfile', tarball], folder);
};

const notes = (
  tarball: string,
): string => `# Handback ${version}${changes?.date ? ` (${changes.date})` : ', a draft'}

${changes?.text ?? ''}

## Install

Check the files: \`sha256sum --check SHA256SUMS\`. \`docs/operations/upgrade.md\` says how to upgrade.

- Node 22.19 or newer, in an empty folder: \`tar -xzf ${tarball} --strip-components=1 && npm ci --omit=dev --ignore-scripts\`, then \`node bin/handback.js serve\`
- an image: \`docker build -t handback:${version} - < handback-${version}-image.tar.gz\`
- Compose, Kubernetes, systemd: \`deploy/\` in the package
`;

const checksums = (): string =>
  readdirSync(output)
    .sort()
    .map(
      (name) =>
        `${createHash('sha256')
          .update(readFileSync(join(output, name)))
          .digest('hex')}  ${name}\n`,
    )
    .join('');

const release = (): string => {
  if (!options['no-build'])
    execFileSync(process.execPath, ['scripts/prepack.mjs'], { cwd: ROOT, stdio: 'inherit' });
  rmSync(output, { recursive: true, force: true });
  mkdirSync(output, { recursive: true });
  stagePackage(staging);
  const tarball = writePackage(join(staging, 'handback'));
  writeImageContext(join(staging, 'image'), tarball);
  const sbom = [
    'sbom',
    '--package-lock-only',
    '--omit=dev',
    '--sbom-format=cyclonedx',
    '--sbom-type=application',
  ];
  writeFileSync(
    join(output, `handback-${version}-sbom.json`),
    execute('npm', sbom, join(staging, 'handback')),
  );
  writeFileSync(join(output, 'openapi.json'), openApi);
  writeFileSync(join(output, 'NOTES.md'), notes(tarball));
  writeFileSync(join(output, 'SHA256SUMS'), checksums());
  return join(output, tarball);
};

/** As an operator does, on SQLite. */
const installAndStart = async (tarball: string): Promise<void> => {
  const folder = join(staging, 'installed');
  const program = installPackage(tarball, folder);
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) =>
    entry.isFile(),
  );
  const sizes = files.map(({ parentPath, name }) => statSync(join(parentPath, name)).size);
  const mb = sizes.reduce((sum, size) => sum + size, 0) / 2 ** 20;
  if (mb > MOST_INSTALLED_MB)
    throw new Error(`${mb.toFixed(0)} MB are installed, more than ${MOST_INSTALLED_MB}`);
  const env = { DATA_DIR: join(staging, 'data') };
  const { stop } = await serve({ node: process.execPath, program, env });
  await stop();
  say(`installed into an empty folder (${mb.toFixed(0)} MB) and started: /readyz is 200`);
};

const found = options.draft ? [] : faults();
for (const fault of found) process.stderr.write(`no release: ${fault}\n`);
if (found.length > 0) process.exit(1);
const tarball = release();
say(readFileSync(join(output, 'SHA256SUMS'), 'utf8').trim());
if (!options.draft) {
  await installAndStart(tarball);
  mkdirSync(dirname(RELEASED_API), { recursive: true });
  writeFileSync(RELEASED_API, openApi);
  writeFileSync(RELEASED_MIGRATIONS, asJson(migrations));
  say(`commit test/released, and tag it: git tag v${version}`);
}
