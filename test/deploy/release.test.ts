import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newFolder } from '../support/folders.ts';
import { scaled } from '../support/until.ts';

// A draft of a release, of what is built here. It needs no registry.

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
const TARBALL = `handback-${version}.tgz`;
const IMAGE = `handback-${version}-image.tar.gz`;
const SBOM = `handback-${version}-sbom.json`;

describe('npm run release', () => {
  let folder: string;
  const json = (...path: string[]) => JSON.parse(readFileSync(join(folder, ...path), 'utf8'));
  const listed = (file: string): string[] =>
    execFileSync('tar', ['-tzf', join(folder, file)], { encoding: 'utf8' })
      .trim()
      .split('\n');

  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  beforeAll(() => {
    folder = newFolder();
    const args = ['scripts/release.ts', '--draft', '--no-build', '--output', folder];
    execFileSync(process.execPath, args, { cwd: ROOT, stdio: 'pipe', timeout: scaled(120_000) });
  });

  it('writes the package, the image, the bill of materials, the API, notes and the checksums of all', () => {
    const names = ['NOTES.md', TARBALL, IMAGE, SBOM, 'openapi.json'];
    expect(readdirSync(folder).sort()).toEqual([...names, 'SHA256SUMS'].sort());
    const lines = readFileSync(join(folder, 'SHA256SUMS'), 'utf8').trim().split('\n');
    const expected = names.map((name) => {
      const bytes = readFileSync(join(folder, name));
      return `${createHash('sha256').update(bytes).digest('hex')}  ${name}`;
    });
    expect(lines.sort()).toEqual(expected.sort());
    expect(statSync(join(folder, TARBALL)).size).toBeLessThan(8_000_000);
    expect(listed(IMAGE)).toEqual(['Dockerfile', TARBALL]);
    const changelog = readFileSync(join(ROOT, 'CHANGELOG.md'), 'utf8');
    const [first = ''] = /^- .*$/m.exec(changelog) ?? [];
    expect(readFileSync(join(folder, 'NOTES.md'), 'utf8')).toContain(first);
    expect(json('openapi.json')).toMatchObject({ openapi: '3.1.0', info: { version } });
  });

  it('pins the exact production packages with their digests, and nothing for development', () => {
    const paths = listed(TARBALL);
    expect(paths).toContain('package/deploy/kubernetes/kustomization.yaml');
    expect(paths.filter((path) => /node_modules|^package\/(src|test|scripts)\//.test(path))).toEqual([]);
    const unpacked = join(folder, 'unpacked');
    mkdirSync(unpacked);
    execFileSync('tar', ['-xzf', join(folder, TARBALL), '-C', unpacked]);
    const manifest = json('unpacked', 'package', 'package.json');
    expect(manifest).not.toHaveProperty('devDependencies');
    const { packages } = json('unpacked', 'package', 'npm-shrinkwrap.json');
    const { '': own, ...others } = packages as Record<string, Record<string, unknown>>;
    expect(own).toMatchObject({ name: 'handback', version, dependencies: manifest.dependencies });
    const { packages: locked } = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8'));
    for (const [path, each] of Object.entries(others)) expect(each).toEqual(locked[path]);
    for (const each of Object.values(others))
      expect(each).toMatchObject({
        version: expect.any(String),
        integrity: expect.stringMatching(/^sha512-/),
      });
    for (const name of Object.keys(manifest.dependencies))
      expect(others).toHaveProperty([`node_modules/${name}`]);
    expect(others).not.toHaveProperty(['node_modules/vitest']);

    const { metadata, components } = json(SBOM);
    expect(metadata.component).toMatchObject({ name: 'handback', version });
    const inSbom = new Set(components.map(({ purl }: { purl: string }) => decodeURIComponent(purl)));
    const inPackage = Object.entries(others).map(
      ([path, each]) => `pkg:npm/${path.replace(/^.*node_modules\//, '')}@${each['version']}`,
    );
    expect([...inSbom].sort()).toEqual([...new Set(inPackage)].sort());
  });
});
