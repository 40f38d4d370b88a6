import { type Config, ConfigError, readConfig } from '../../config.ts';
import { isUnavailable } from '../../db/errors.ts';
import { snapshotOf } from '../../db/open.ts';
import type { Reading } from '../../db/transfer.ts';
import { explainStartFailure } from '../../start-failure.ts';
import { checkCounters, checkQueue, checkSecretKey, checkTotals } from './data.ts';
import { type Finding, isTooLate, STATEMENT_MS, warn, wrong } from './finding.ts';
import {
  checkClock,
  checkDisk,
  checkMigrations,
  checkPooler,
  checkProxy,
  checkServer,
  checkSettings,
} from './installation.ts';

export type Checked = Finding & { check: string };
type Report = (checked: Checked) => void;

/** Looks at everything an installation needs, in order, and changes nothing. Each finding is reported as soon as it is known. */
export const examine = async (env: NodeJS.ProcessEnv, report: Report): Promise<void> => {
  const config = settingsIn(env, report);
  if (!config) return;
  const look = async (check: string, work: () => Promise<Finding | null>): Promise<Finding | null> => {
    const finding = await work().catch(failed);
    if (finding) report({ check, ...finding });
    return finding;
  };
  const server = await look('database', () => read(config, async (at) => checkServer(await at.server())));
  if (server?.state === 'ok') {
    const schema = await look('migrations', () => read(config, checkMigrations));
    await look('pooler', () => checkPooler(config));
    if (schema?.state === 'ok') await examineData(config, look);
    else report({ check: 'data', ...warn('not looked at: its schema is not that of this release') });
  }
  await look('disk', () => checkDisk(config));
};

type Look = (check: string, work: () => Promise<Finding | null>) => Promise<Finding | null>;

const examineData = async (config: Config, look: Look): Promise<void> => {
  await look('clock', () => read(config, async (at) => checkClock(at, await momentOf(at))));
  await look('secret key', () => read(config, (at) => checkSecretKey(at, config)));
  await look('proxy', () => read(config, (at) => checkProxy(at, config)));
  await look('queue', () =>
    read(config, async (at) => checkQueue(at, (await at.server()).nowMs ?? Date.now())),
  );
  await look('totals', () => read(config, checkTotals));
  await look('counters', () => read(config, checkCounters));
};

const settingsIn = (env: NodeJS.ProcessEnv, report: Report): Config | null => {
  try {
    const config = readConfig(env);
    report({ check: 'settings', ...checkSettings(config) });
    return config;
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    report({ check: 'settings', ...wrong(error.message) });
    return null;
  }
};

/** Each check has a moment of its own: one that PostgreSQL broke off ends its transaction. */
const read = <Result>(config: Config, work: (reading: Reading) => Promise<Result>): Promise<Result> =>
  snapshotOf(config, STATEMENT_MS)(work);

const momentOf = async (reading: Reading) => {
  const before = Date.now();
  const server = await reading.server();
  return { server, ownMs: (before + Date.now()) / 2 };
};

const failed = (error: unknown): Finding => {
  if (isTooLate(error)) return warn('not checked in time');
  if (error instanceof ConfigError) return wrong(error.message);
  const why = explainStartFailure(error);
  return isUnavailable(error) ? wrong(why) : wrong(`could not be checked: ${safe(error, why)}`);
};

/** The message of a database may quote a row. */
const safe = (error: unknown, words: string): string => {
  const { code } = error as { code?: unknown };
  return typeof code === 'string' && !words.startsWith('cannot ') ? code : words;
};
