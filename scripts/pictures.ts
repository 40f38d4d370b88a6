import { execFileSync, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { chromium, type Page } from 'playwright-core';
import UPNG from 'upng-js';
import { toolPath } from '../test/support/tools.ts';

// The pictures of docs/pictures.md, from the real app and the demo shop: npm run pictures

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const IMAGES = join(ROOT, 'docs/images');
const MOST_BYTES = 300_000;

const freePort = (): Promise<number> =>
  new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' ? (address?.port ?? 0) : 0));
    });
  });

const started = async (url: string): Promise<void> => {
  for (let i = 0; i < 150; i += 1) {
    const isThere = await fetch(`${url}/healthz`).then(
      ({ ok }) => ok,
      () => false,
    );
    if (isThere) return;
    await setTimeout(200);
  }
  throw new Error('the service did not start');
};

/** Where the last whole element ends that fits into the height; pictures are cut there. */
const lastWhole = (page: Page, selector: string, most: number): Promise<number> =>
  page
    .locator(selector)
    .evaluateAll(
      (found, limit) =>
        Math.max(
          ...found
            .map((each) =>
              Math.round(
                (each as unknown as { getBoundingClientRect(): { bottom: number } }).getBoundingClientRect()
                  .bottom,
              ),
            )
            .filter((bottom) => bottom <= limit),
        ),
      most,
    );

/** A page has few colours: with a palette of 256 its picture needs a third of the bytes. */
const fewerColours = (png: Buffer): Buffer => {
  const picture = UPNG.decode(new Uint8Array(png).buffer);
  return Buffer.from(UPNG.encode(UPNG.toRGBA8(picture), picture.width, picture.height, 256));
};

const save = (name: string, png: Buffer): void => {
  const small = fewerColours(png);
  if (small.length > MOST_BYTES) throw new Error(`${name} has ${small.length} bytes`);
  writeFileSync(join(IMAGES, `${name}.png`), small);
  process.stdout.write(`${name}.png ${Math.round(small.length / 1000)} kB\n`);
};

/** Everything is loaded, and nothing is shown in place of it. */
const settled = async (page: Page): Promise<void> => {
  await page.waitForLoadState('networkidle');
  await page.locator('.mantine-Skeleton-root, .mantine-Loader-root').first().waitFor({ state: 'hidden' });
  await page.evaluate('document.fonts.ready.then(() => true)');
};

const open = async (page: Page, path: string): Promise<void> => {
  await page.goto(`/admin${path}`);
  await settled(page);
};

/** A window of this height, without a pointer on anything. */
const shoot = async (page: Page, name: string, height: number): Promise<void> => {
  await page.setViewportSize({ width: page.viewportSize()?.width ?? 0, height });
  await page.mouse.move(0, 0);
  save(name, await page.screenshot());
};

const numbersOf = (page: Page, status: string): Promise<string[]> =>
  page
    .getByRole('row')
    .filter({ hasText: status })
    .getByRole('link', { name: /^#RMA-/ })
    .allTextContents();

const takeAll = async (page: Page): Promise<void> => {
  await open(page, '/');
  await shoot(page, 'today', (await lastWhole(page, 'main li', 790)) + 20);

  await open(page, '/offline-repairs');
  await shoot(page, 'repairs', await lastWhole(page, 'main tbody tr', 790));
  const [toRepair, [inRepair = '']] = [
    await numbersOf(page, 'In diagnostics'),
    await numbersOf(page, 'In repair'),
  ];

  await page.getByRole('link', { name: inRepair }).click();
  await page.getByRole('textbox', { name: 'Note' }).waitFor();
  await page.getByRole('button', { name: 'More' }).and(page.locator(':enabled')).first().waitFor();
  await settled(page);
  const id = new URL(page.url()).pathname.split('/').at(-1) ?? '';
  await shoot(page, 'repair', await lastWhole(page, 'main section', 790));

  await open(page, `/print?kind=offline-repairs&ids=${id}`);
  // All of it below the header, which would cover it.
  await page.setViewportSize({ width: 1280, height: 1400 });
  save('slip', await page.locator('.slips > *').first().screenshot());

  await page.setViewportSize({ width: 1280, height: 800 });
  await open(page, '/scan-station');
  await page.getByText('Start repair', { exact: true }).click();
  for (const number of toRepair.slice(0, 4)) {
    await page.getByRole('textbox', { name: 'Scan a return' }).fill(number);
    await page.keyboard.press('Enter');
    await page.getByRole('listitem').filter({ hasText: number }).getByText('Repair started').waitFor();
  }
  await settled(page);
  await shoot(page, 'scan-station', await lastWhole(page, 'main li', 900));

  await page.setViewportSize({ width: 390, height: 800 });
  await open(page, '/offline-repairs?sort=dueAt');
  const bar = (await page.getByRole('navigation', { name: 'Pages', exact: true }).boundingBox())?.height ?? 0;
  await shoot(page, 'phone', (await lastWhole(page, 'main li', 760)) + bar);
};

const folder = mkdtempSync(join(tmpdir(), 'handback-pictures-'));
const port = await freePort();
const url = `http://127.0.0.1:${port}`;
const env = { ...process.env, DATA_DIR: folder, PORT: String(port), HOST: '127.0.0.1', LOG_LEVEL: 'error' };
const command = join(ROOT, 'bin/handback.js');
const service = spawn(process.execPath, [command, 'serve'], { env, stdio: 'ignore' });
mkdirSync(IMAGES, { recursive: true });
try {
  await started(url);
  const demo = JSON.parse(
    execFileSync(process.execPath, [command, 'demo', '--json'], { env, encoding: 'utf8' }),
  );
  const browser = await chromium.launch({ executablePath: toolPath('chromium'), args: ['--no-sandbox'] });
  const page = await browser.newPage({
    baseURL: url,
    colorScheme: 'light',
    deviceScaleFactor: 2,
    reducedMotion: 'reduce',
    viewport: { width: 1280, height: 800 },
  });
  await page.goto('/admin/sign-in');
  await page.getByLabel('Email').fill(demo.email);
  await page.locator('input[type=password]').fill(demo.password);
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'Today', level: 2 }).waitFor();
  await takeAll(page);
  await browser.close();
} finally {
  service.kill();
  rmSync(folder, { recursive: true, force: true });
}
