import { AxeBuilder } from '@axe-core/playwright';
import {
  type Browser,
  type BrowserContext,
  type BrowserContextOptions,
  chromium,
  type Locator,
  type Page,
} from 'playwright-core';
import { expect, inject, onTestFinished } from 'vitest';
import type { UserRole } from '../../contract/admin-people.ts';
import type { Shop } from '../../src/shops/plans.ts';
import { newPerson, PASSWORD } from './admin.ts';
import type { Harness } from './harness.ts';

// A person in front of the app: a real Chromium on the real service. What the console complains of fails the test.

const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--no-first-run',
];

type Scheme = 'light' | 'dark';

interface Options {
  scheme?: Scheme;
  width?: number;
  timeZone?: string;
}

type Session = Exclude<BrowserContextOptions['storageState'], string | undefined>;

let shared: Promise<Browser> | null = null;
/** One for all suites of a worker; it ends with the worker, whose end it sees. */
const launch = (): Promise<Browser> => {
  shared ??= chromium.launch({ executablePath: inject('browser'), args: FLAGS });
  return shared;
};

/** A window of its own, with no cookies. */
export const openWindow = async (
  t: Pick<Harness, 'url'>,
  { scheme = 'light', width = 1280, timeZone, session }: Options & { session?: Session } = {},
): Promise<Page> => {
  const browser = await launch();
  const context: BrowserContext = await browser.newContext({
    baseURL: t.url,
    colorScheme: scheme,
    reducedMotion: 'reduce',
    ...(timeZone ? { timezoneId: timeZone } : {}),
    ...(session ? { storageState: session } : {}),
    viewport: { width, height: 900 },
    // Every window comes from an address of its own, so that lock-outs stay out of the way.
    extraHTTPHeaders: { 'x-forwarded-for': `172.31.0.${1 + Math.floor(Math.random() * 250)}` },
  });
  const complaints: string[] = [];
  const page = await context.newPage();
  page.setDefaultTimeout(10_000);
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) complaints.push(message.text());
  });
  page.on('pageerror', (error) => complaints.push(String(error)));
  page.on('request', (request) => {
    if (
      !request.url().startsWith(t.url) &&
      !request.url().startsWith('data:') &&
      !request.url().startsWith('blob:')
    )
      complaints.push(`asked another host: ${request.url()}`);
  });
  onTestFinished(async () => {
    await context.close();
    expect(complaints.filter((text) => !isExpected(text))).toEqual([]);
  });
  return page;
};

/** Chromium itself logs every refused request, and every one without a connection; whether a refusal was right is for the test to say. */
const isExpected = (text: string): boolean =>
  /^Failed to load resource: (the server responded with a status of 4\d\d|net::ERR_INTERNET_DISCONNECTED)/.test(
    text,
  );

export const signIn = async (page: Page, email: string, password = PASSWORD): Promise<void> => {
  await page.goto('/admin/sign-in');
  await page.getByLabel('E-mail').fill(email);
  await page.getByLabel('Password', { exact: false }).and(page.locator('input')).fill(password);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('heading', { name: 'Overview', level: 2 }).waitFor();
};

/** Somebody of the shop, signed in, in a window of their own that shows nothing yet. */
export const openAs = async (
  t: Harness,
  role: UserRole,
  { shop, email, ...options }: Options & { shop?: Shop; email?: string } = {},
): Promise<Page> => {
  const { cookie } = await newPerson(t, { role, ...(shop ? { shop } : {}), ...(email ? { email } : {}) });
  return openWindow(t, { ...options, session: sessionOf(t, cookie) });
};

/** What a browser keeps of somebody who signed in. */
const sessionOf = ({ url }: Harness, cookie: string): Session => {
  const [name = '', value = ''] = cookie.split('=');
  const kept = { httpOnly: true, secure: false, sameSite: 'Strict' as const, expires: -1 };
  return {
    cookies: [{ name, value, domain: new URL(url).hostname, path: '/admin', ...kept }],
    origins: [{ origin: url, localStorage: [{ name: 'handback.signed-in', value: 'yes' }] }],
  };
};

/** The pages by what is written above them. The overview costs more than the others: it draws charts. */
const PATHS = {
  Overview: '/',
  'External API': '/settings/external-api',
  Team: '/settings/team',
  'Dangerous goods': '/settings/dangerous-goods',
  'Plan and usage': '/settings/plan',
  'Account and password': '/account',
};

/** The same, with a page open. */
export const openPageAs = async (
  name: keyof typeof PATHS,
  ...who: Parameters<typeof openAs>
): Promise<Page> => {
  const page = await openAs(...who);
  await page.goto(`/admin${PATHS[name]}`);
  await page.getByRole('heading', { name, level: 2 }).waitFor();
  return page;
};

/** Chooses a move of the return that is shown: the likely one is a button, the others are in a menu. */
export const openMove = async (page: Page, label: string): Promise<void> => {
  const moves = page.getByRole('group', { name: 'What can be done' });
  await moves.getByRole('button').first().waitFor();
  const button = moves.getByRole('button', { name: label, exact: true });
  if ((await button.count()) > 0) return button.click();
  await moves.getByRole('button', { name: 'More' }).click();
  await page.getByRole('menuitem', { name: label, exact: true }).click();
};

/** What is said beside an input, by what describes it: its help and its fault. */
export const saidAt = async (input: Locator): Promise<string> => {
  const ids = (await input.getAttribute('aria-describedby'))?.split(/\s+/) ?? [];
  const said = await Promise.all(ids.map((id) => input.page().locator(`[id="${id}"]`).allTextContents()));
  return said.flat().join(' ');
};

/** Nothing moves or fades any more. */
export const settled = async (page: Page): Promise<void> => {
  // Asked from here: the page's own policy forbids scripts made of text.
  const moving = `document.getAnimations().filter(({ playState }) => playState === 'running').length`;
  await expect.poll(() => page.evaluate(moving)).toBe(0);
};

/** Gives an open page another colour scheme or width, and waits until it has drawn itself anew. */
export const look = async (
  page: Page,
  { scheme, width }: Pick<Options, 'scheme' | 'width'>,
): Promise<void> => {
  if (scheme) await page.emulateMedia({ colorScheme: scheme });
  if (width) await page.setViewportSize({ width, height: 900 });
  // The first frame tells the components of the change, the second shows what they made of it.
  await page.evaluate('new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))');
  await settled(page);
};

/** No violation of what axe checks, on the page as it stands. */
export const expectAccessible = async (page: Page, where = page.url()): Promise<void> => {
  // The old way, which is for pages without frames: the new one opens a second page each time.
  const axe = new AxeBuilder({ page }).setLegacyMode();
  // To tell also of everything that is as it should be takes axe half as long again.
  const { violations } = await axe.options({ resultTypes: ['violations'] }).analyze();
  expect(
    violations.map(({ id, help, nodes }) => ({
      id,
      help,
      at: nodes.map(({ target }) => target.join(' ')).slice(0, 3),
    })),
    where,
  ).toEqual([]);
};
