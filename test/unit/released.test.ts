import { existsSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import {
  changedMigrations,
  changesOf,
  migrationDigests,
  RELEASED_MIGRATIONS,
} from '../../scripts/released.ts';
import { onlyIf } from '../support/tools.ts';

it(
  'no released migration has been edited',
  onlyIf(existsSync(RELEASED_MIGRATIONS), 'nothing is released yet'),
  () => {
    const released = JSON.parse(readFileSync(RELEASED_MIGRATIONS, 'utf8'));
    expect(changedMigrations(released, migrationDigests())).toEqual([]);
  },
);

it('a release rejects migrations that were edited or removed, and accepts new ones', () => {
  const before = { '0001-schema.ts': 'one', '0002-colour.ts': 'two' };
  expect(changedMigrations(before, { '0002-colour.ts': 'other', '0003-size.ts': 'three' })).toEqual([
    '0001-schema.ts is released and was removed: add a new migration',
    '0002-colour.ts is released and was changed: add a new migration',
  ]);
  expect(changedMigrations(before, { ...before, '0003-size.ts': 'three' })).toEqual([]);
  expect(Object.keys(migrationDigests())).toContain('0001-schema.ts');
});

it('the notes of a release are the section of its version in the changelog, dated or not', () => {
  const changelog =
    '# Changelog\n\n## [0.2.0] - unreleased\n\n- new\n\n## [0.1.0] - 2026-12-01\n\n- first\n- second\n';
  expect(changesOf(changelog, '0.2.0')).toEqual({ date: null, text: '- new' });
  expect(changesOf(changelog, '0.1.0')).toEqual({ date: '2026-12-01', text: '- first\n- second' });
  expect(changesOf(changelog, '0.1.1')).toBeNull();
});
