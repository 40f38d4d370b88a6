import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import axe from 'axe-core';
import { type Browser, type BrowserContext, chromium, type Locator, type Page } from 'playwright-core';
import { expect, onTestFinished } from 'vitest';
import type { UserRole } from '../../contract/admin-people.ts';
import type { Shop } from '../../src/shops/plans.ts';
import { newPerson, PASSWORD } from './admin.ts';
import { showOnFailure } from './failures.ts';
import type { Harness } from './harness.ts';
import { newAddress } from './http.ts';
import { toolPath } from './tools.ts';
import { scaled } from './until.ts';

// A user of the app: a real Chromium on the real service. A warning or an error in its console fails the test.

const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--no-first-run',
];

const EVIDENCE_WITHIN_MS = scaled(10_000);

interface Options {
  scheme?: 'light' | 'dark';
  width?: number;
  timeZone?: string;
  /** The language of the browser, by default American English. */
  locale?: string;
  /** A profile for this test only: with an empty cache, or for changes that cannot be undone, such as a clock. */
  ownProfile?: boolean;
}

let shared: Promise<Browser> | null = null;
/** One browser for all suites of a worker; it ends with the worker. */
const launch = (): Promise<Browser> => {
  shared ??= chromium.launch({ executablePath: toolPath('chromium'), args: FLAGS });
  return shared;
};

/**
 * Profiles whose windows are closed, by the service they were used for. They hold no session, but have the compiled scripts: a new
 * profile fetches and compiles them again, which takes longer than most pages.
 */
const unused: { url: string; profile: BrowserContext }[] = [];

const unusedFor = (url: string): BrowserContext | undefined => {
  const index = unused.findIndex((one) => one.url === url);
  return index < 0 ? undefined : unused.splice(index, 1)[0]?.profile;
};

const newProfile = async (url: string, { timeZone, locale }: Options): Promise<BrowserContext> => {
  const browser = await launch();
  const profile = await browser.newContext({
    baseURL: url,
    reducedMotion: 'reduce',
    ...(timeZone ? { timezoneId: timeZone } : {}),
    ...(locale ? { locale } : {}),
    viewport: { width: 1280, height: 900 },
  });
  // This page stays open: all windows of the profile share its process and the scripts that it has compiled.
  const first = await profile.newPage();
  await first.goto('/healthz');
  // Without pictures, which would make the tests half as long again.
  await profile.tracing.start({ snapshots: true });
  return profile;
};

const newWindow = async (profile: BrowserContext): Promise<Page> => {
  const opened = profile.waitForEvent('page');
  await profile.pages()[0]?.evaluate(`window.open('about:blank').opener = null`);
  return opened;
};

/** Closes the windows of a profile and deletes what their pages stored. */
const giveBack = async (profile: BrowserContext, url: string): Promise<void> => {
  const [first, ...windows] = profile.pages();
  await Promise.all(windows.map((window) => window.close()));
  const stored = await profile.newCDPSession(first as Page);
  await stored.send('Storage.clearDataForOrigin', {
    origin: url,
    storageTypes: 'local_storage,indexeddb,cache_storage,service_workers',
  });
  await profile.setOffline(false);
  await profile.clearPermissions();
  await profile.clearCookies();
  await stored.detach();
  unused.push({ url, profile });
};

/** Signs a window in by a cookie. */
const enter = async (page: Page, url: string, cookie: string): Promise<void> => {
  const [name = '', value = ''] = cookie.split('=');
  const kept = { httpOnly: true, secure: false, sameSite: 'Strict' as const, expires: -1 };
  const place = { domain: new URL(url).hostname, path: '/admin' };
  await page.context().addCookies([{ name, value, ...kept, ...place }]);
  const noted = await page.addInitScript(() => localStorage.setItem('handback.signed-in', 'yes'));
  // Only for the first page: later the app may change it.
  page.once('domcontentloaded', () => void noted.dispose());
};

/** A new window without cookies. */
export const openWindow = async (
  t: Pick<Harness, 'url'>,
  {
    scheme = 'light',
    width = 1280,
    timeZone,
    locale,
    cookie,
    ownProfile = timeZone !== undefined || locale !== undefined,
    provider = t.url,
  }: Options & { cookie?: string; provider?: string } = {},
): Promise<Page> => {
  const profile = (ownProfile ? null : unusedFor(t.url)) ?? (await newProfile(t.url, { timeZone, locale }));
  // Each window has its own address, so that no test locks another one out.
  await profile.setExtraHTTPHeaders({ 'x-forwarded-for': newAddress('172.31') });
  // Without pictures, which would make the tests half as long again.
  await profile.tracing.startChunk();
  const page = await newWindow(profile);
  const messages: string[] = [];
  const complaints: string[] = [];
  page.setDefaultTimeout(scaled(30_000));
  page.on('console', (message) => {
    const text = `${message.type()}: ${message.text()}`;
    if (!text.includes('Failed to load resource')) messages.push(text);
    if (['error', 'warning'].includes(message.type())) complaints.push(message.text());
  });
  page.on('pageerror', (error) => {
    messages.push(error.stack ?? String(error));
    complaints.push(String(error));
  });
  page.on('response', async (response) => {
    if (response.status() < 400) return;
    const body = await response.text().catch(() => '');
    messages.push(`${response.status()} for ${response.request().method()} ${response.url()}: ${body}`);
  });
  page.on('request', (request) => {
    const isOwn = [t.url, provider, 'data:', 'blob:'].some((start) => request.url().startsWith(start));
    if (!isOwn) complaints.push(`asked another host: ${request.url()}`);
  });
  const kept: string[] = [];
  showOnFailure(() => kept);
  onTestFinished(async ({ task }) => {
    const unexpected = complaints.filter((text) => !isExpected(text));
    if (task.result?.state === 'fail' || unexpected.length > 0) {
      kept.push(...(await keepEvidence(page, task.fullTestName, messages)));
      await profile.close();
    } else {
      await profile.tracing.stopChunk();
      await (ownProfile ? profile.close() : giveBack(profile, t.url));
    }
    expect(unexpected, 'complaints of the browser').toEqual([]);
  });
  if (scheme !== 'light') await page.emulateMedia({ colorScheme: scheme });
  if (width !== 1280) await page.setViewportSize({ width, height: 900 });
  if (cookie) await enter(page, t.url, cookie);
  return page;
};

const SHOWN_MESSAGES = 10;
const LONGEST_MESSAGE = 500;
let failures = 0;

/** Stores screenshot, console and trace of a failed test; returns what to print. */
const keepEvidence = async (page: Page, test: string, messages: string[]): Promise<string[]> => {
  failures += 1;
  const name = `${test.replaceAll(/[^a-z0-9]+/gi, '-').slice(0, 80)}-${process.pid}-${failures}`;
  const folder = join('test-results', name);
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'console.txt'), messages.map((text) => `${text}\n`).join(''));
  const results = await Promise.allSettled([
    page.screenshot({ path: join(folder, 'screenshot.png'), timeout: EVIDENCE_WITHIN_MS }),
    page.context().tracing.stopChunk({ path: join(folder, 'trace.zip') }),
  ]);
  const lacks = results.flatMap((result) => (result.status === 'rejected' ? [String(result.reason)] : []));
  return [
    `page: ${page.url()}`,
    ...messages.slice(-SHOWN_MESSAGES).map((text) => `  ${text.slice(0, LONGEST_MESSAGE)}`),
    `screenshot, console and trace (npx playwright-core show-trace …/trace.zip): ${folder}`,
    ...lacks,
  ];
};

/** Chromium logs every request that was refused or had no connection; the test itself decides whether that was right. */
const isExpected = (text: string): boolean =>
  /^Failed to load resource: (the server responded with a status of (4\d\d|503)|net::ERR_INTERNET_DISCONNECTED)/.test(
    text,
  );

/** Fills in the sign-in page, which must be open. */
export const signInHere = async (page: Page, email: string, password = PASSWORD): Promise<void> => {
  await page.getByLabel('Email').fill(email);
  await page.getByLabel('Password').and(page.locator('input')).fill(password);
  await page.keyboard.press('Enter');
};
export const signIn = async (page: Page, email: string, password = PASSWORD): Promise<void> => {
  await page.goto('/admin/sign-in');
  await signInHere(page, email, password);
  await page.getByRole('heading', { name: 'Today', level: 2 }).waitFor();
};

/** An empty window of a new user of the shop, who is signed in. */
export const openAs = async (
  t: Harness,
  role: UserRole,
  { shop, email, ...options }: Options & { shop?: Shop; email?: string } = {},
): Promise<Page> => {
  const { cookie } = await newPerson(t, { role, ...(shop ? { shop } : {}), ...(email ? { email } : {}) });
  return openWindow(t, { ...options, cookie });
};

/** The same, at an address of the app. */
export const openAt = async (path: string, ...who: Parameters<typeof openAs>): Promise<Page> => {
  const page = await openAs(...who);
  await page.goto(`/admin${path}`);
  return page;
};

/** The pages by their title. */
const PATHS = {
  Today: '/',
  Repairs: '/offline-repairs',
  'New repair': '/offline-repairs/new',
  'Trade returns': '/trade-returns',
  'New trade return': '/trade-returns/new',
  'Scan station': '/bench',
  Shop: '/settings/shop',
  'External API': '/settings/external-api',
  Team: '/settings/team',
  'Dangerous goods': '/settings/dangerous-goods',
  Targets: '/settings/targets',
  'Plan and usage': '/settings/plan',
  Account: '/account',
};

/** The same, with a page open that is loaded. */
export const openPageAs = async (
  name: keyof typeof PATHS,
  ...who: Parameters<typeof openAs>
): Promise<Page> => {
  const page = await openAt(PATHS[name], ...who);
  await page.getByRole('heading', { name, level: 2 }).waitFor();
  return page;
};

/** Goes to another page as a link of the app does, which takes a third of the time of a reload. */
export const goInside = async (page: Page, path: string): Promise<void> => {
  // The account page comes between, so that no element of the former page is taken for one of the next.
  for (const address of ['/admin/account', path]) {
    await page.evaluate(`history.pushState(null, '', ${JSON.stringify(address)})`);
    if (address !== path) await page.getByRole('heading', { name: 'Account', level: 2 }).waitFor();
  }
};

/** Chooses a move of the open return: the likely one is a button, the others are in a menu. */
export const openMove = async (page: Page, label: string): Promise<void> => {
  const moves = page.getByRole('group', { name: 'Actions' });
  await moves.getByRole('button').first().waitFor();
  // A move that is made at once changes which buttons there are.
  await moves.locator('[aria-busy="true"]').waitFor({ state: 'detached' });
  const button = moves.getByRole('button', { name: label, exact: true });
  if ((await button.count()) > 0) return button.click();
  await moves.getByRole('button', { name: 'More' }).click();
  await page.getByRole('menuitem', { name: label, exact: true }).click();
};

/** The help and the error of an input. */
export const saidAt = async (input: Locator): Promise<string> => {
  const ids = (await input.getAttribute('aria-describedby'))?.split(/\s+/) ?? [];
  const said = await Promise.all(ids.map((id) => input.page().locator(`[id="${id}"]`).allTextContents()));
  return said.flat().join(' ');
};

/** Finishes the animations, since a busy machine draws few frames, and waits for endless ones, which end when something is loaded. */
const settled = async (page: Page): Promise<void> => {
  // Playwright evaluates the text: the page's own policy forbids that to its scripts.
  const moving = `document.getAnimations().filter((moving) => {
    if (moving.effect.getComputedTiming().endTime === Infinity) return moving.playState === 'running';
    moving.finish();
  }).map(({ animationName, effect: { target } }) => animationName + ' of ' + target.className)`;
  await expect.poll(() => page.evaluate(moving)).toEqual([]);
};

/** Gives an open page another colour scheme or width, and waits until it is drawn. */
export const look = async (
  page: Page,
  { scheme, width }: Pick<Options, 'scheme' | 'width'>,
): Promise<void> => {
  if (scheme) await page.emulateMedia({ colorScheme: scheme });
  if (width) await page.setViewportSize({ width, height: 900 });
  // The components learn of the change in the first frame, and are drawn in the second.
  await page.evaluate('new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))');
  await settled(page);
};

// A text, for the same reason. A page needs axe only once.
const HAS_AXE = `typeof axe === 'object'`;
/** This rule is off by default. */
const NAMES = `'label-content-name-mismatch': { enabled: true }`;
/** Colours take half of the time. A page that was checked in one look needs only the rules that depend on looks in another. */
const RULES = {
  all: `rules: { ${NAMES} }`,
  butColours: `rules: { ${NAMES}, 'color-contrast': { enabled: false } }`,
  ofLooks: `runOnly: ['color-contrast', 'link-in-text-block', 'scrollable-region-focusable']`,
  ofWidth: `runOnly: ['scrollable-region-focusable']`,
};
type Rules = keyof typeof RULES;
/** Violations only: to report what passes, too, takes axe half as long again. */
const runAxe = (
  within: string,
  rules: Rules,
) => `axe.run(${within}, { resultTypes: ['violations'], ${RULES[rules]} }).then(({ violations }) => violations.map(
  ({ id, help, nodes }) => ({ id, help, at: nodes.map(({ target }) => target.join(' ')).slice(0, 3) })))`;

const expectNoViolation = async (
  page: Page,
  where: string,
  within: string,
  rules: Rules = 'all',
): Promise<void> => {
  await settled(page);
  if (!(await page.evaluate(HAS_AXE))) await page.evaluate(axe.source);
  expect(await page.evaluate(runAxe(within, rules)), where).toEqual([]);
};

/** Axe finds no violation on the page. */
export const expectAccessible = (page: Page, where = page.url(), rules?: Rules): Promise<void> =>
  expectNoViolation(page, where, 'document', rules);

/** The same wide and light with all rules, and then narrow and dark with those that depend on looks. */
export const accessibleEverywhere = async (page: Page): Promise<void> => {
  await expectAccessible(page);
  await look(page, { scheme: 'dark', width: 390 });
  await expectNoViolation(page, `${page.url()}, dark, 390 px`, 'document', 'ofLooks');
  await look(page, { scheme: 'light', width: 1280 });
};

/** The same of the open dialog, without the page behind it, which takes axe several times as long. */
export const expectAccessibleDialog = (page: Page, where = page.url()): Promise<void> =>
  expectNoViolation(page, where, `document.querySelector('[role="dialog"]')`);
