import { expect, it } from 'vitest';
import { openWindow, saidAt } from '../support/browser.ts';
import { emptyDatabase, startServer } from '../support/process.ts';
import { until } from '../support/until.ts';

it('the link that the first start prints makes the shop and signs its Admin in; it works once', async () => {
  const server = await startServer(await emptyDatabase());
  const link = await until('the link is printed', () => /http\S+set-up\?token=\w+/.exec(server.stderr)?.[0]);
  const page = await openWindow(server);
  await page.goto(link);
  const password = page.getByLabel('Password', { exact: false }).and(page.locator('input'));
  await page.getByRole('textbox', { name: 'Name of the shop' }).fill('Harbour Road Electrics');
  await page.getByRole('textbox', { name: 'Your e-mail' }).fill('grace at example');
  await password.fill('short');
  await page.getByRole('button', { name: 'Make the shop' }).click();
  await expect.poll(() => saidAt(password)).toContain('Must be at least 8 characters long.');
  await page.getByRole('textbox', { name: 'Your e-mail' }).fill('grace@example.com');
  await password.fill('correct horse battery');
  await page.getByRole('button', { name: 'Make the shop' }).click();

  await page.getByRole('heading', { name: 'Overview', level: 2 }).waitFor();
  await page.getByRole('banner').getByText('Harbour Road Electrics').waitFor();
  await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Team' }).click();
  await page
    .getByRole('row', { name: /grace@example\.com/ })
    .getByRole('cell', { name: 'Admin', exact: true })
    .waitFor();

  const late = await openWindow(server);
  await late.goto(link);
  await late.getByRole('heading', { name: 'This link was used already' }).waitFor();
  expect(await late.getByRole('textbox').count()).toBe(0);
  await late.getByRole('link', { name: 'To the sign-in' }).click();
  await late.getByRole('heading', { name: 'Sign in to Handback' }).waitFor();
});
