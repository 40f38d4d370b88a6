import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { BASE_PATH } from '../../contract/common.ts';
import { newUser } from '../support/admin.ts';
import { openWindow, signInHere } from '../support/browser.ts';
import { newRepair, rowOf, signInTitle, signOut, title, toPage } from '../support/browser-pages.ts';
import { harness } from '../support/harness.ts';

// A user whose service is below a path of a host that it shares with others.

const PUBLIC_PATH = '/returns';

/**
 * A host with the service below the path, and nothing else. Notes what it is asked for outside of it. It removes the path; one that
 * passes it on gets the same responses (test/api/public-path.test.ts).
 */
const sharedHost = async () => {
  const host = { url: '', target: '', outside: [] as string[] };
  const server = createServer((asked, response) => {
    const { url = '/', method, headers } = asked;
    if (url !== PUBLIC_PATH && !url.startsWith(`${PUBLIC_PATH}/`)) {
      host.outside.push(url);
      response.writeHead(404).end();
      return;
    }
    const path = url.slice(PUBLIC_PATH.length) || '/';
    const passedOn = request(`${host.target}${path}`, { method, headers }, (received) => {
      response.writeHead(received.statusCode ?? 502, received.headers);
      received.pipe(response);
    });
    passedOn.on('error', () => response.destroy());
    asked.pipe(passedOn);
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  host.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return host;
};

it('a user below a path prefix requests nothing outside of it', async () => {
  const host = await sharedHost();
  const t = await harness({ env: { PUBLIC_URL: `${host.url}${PUBLIC_PATH}` } });
  host.target = t.url;
  const { email } = await newUser(t);
  const { rmaNumber } = await newRepair(t);
  const page = await openWindow(host, { ownProfile: true });
  // The first page of a profile is at the root of the host.
  host.outside.length = 0;
  const pathOf = () => new URL(page.url()).pathname;

  // The sign-in leads to a page that loads a chunk of its own.
  await page.goto(`${PUBLIC_PATH}/admin/settings/team`);
  await signInTitle(page).waitFor();
  expect(pathOf()).toBe('/returns/admin/sign-in');
  await signInHere(page, email);
  await title(page, 'Team').waitFor();
  expect(pathOf()).toBe('/returns/admin/settings/team');
  await page.reload();
  await page.getByRole('row', { name: new RegExp(email) }).waitFor();

  // A list, and a return in a window of its own, before and after a reload.
  await page.goto(PUBLIC_PATH);
  await title(page, 'Today').waitFor();
  expect(pathOf()).toBe('/returns/admin/');
  await toPage(page, 'Repairs');
  const opened = page.context().waitForEvent('page');
  await rowOf(page, rmaNumber)
    .getByText('In diagnostics')
    .click({ modifiers: ['ControlOrMeta'] });
  const other = await opened;
  await other.getByRole('heading', { name: rmaNumber }).waitFor();
  expect(new URL(other.url()).pathname).toMatch(/^\/returns\/admin\/offline-repairs\/[0-9a-f-]{36}$/);
  await other.reload();
  await other.getByRole('heading', { name: rmaNumber }).waitFor();
  await other.close();
  await rowOf(page, rmaNumber).getByRole('link', { name: rmaNumber }).click();
  await page.getByRole('button', { name: 'Start repair' }).click();
  await page.getByText('In repair').first().waitFor();

  // The command of a new key has the whole address.
  await toPage(page, 'External API');
  await page.getByRole('button', { name: 'New client' }).click();
  const form = page.getByRole('dialog', { name: 'New API client' });
  await form.getByRole('textbox', { name: 'Name' }).fill('Till 2');
  await form.getByRole('button', { name: 'Create API client' }).click();
  const ready = page.getByRole('dialog', { name: 'Till 2 is ready' });
  const command = ready.getByRole('group', { name: 'Try it' });
  await expect
    .poll(() => command.textContent())
    .toContain(`'${host.url}${PUBLIC_PATH}${BASE_PATH}/offline-repairs?`);
  const quickStart = page.getByRole('link', { name: /quick start/i });
  expect(await quickStart.getAttribute('href')).toBe('/returns/docs/quick-start');

  // The documentation, from the menu, and back.
  await page.goto(`${PUBLIC_PATH}/admin/offline-repairs`);
  const docs = page.context().waitForEvent('page');
  await page.getByRole('link', { name: /^Docs|Documentation$/ }).click();
  const reader = await docs;
  await reader.getByRole('link', { name: 'Quick start' }).first().click();
  await reader.locator('.code pre').first().waitFor();
  await reader.keyboard.press('/');
  await reader.keyboard.type('limit exceeded');
  await reader.getByRole('option').first().waitFor();
  await reader.goto(`${PUBLIC_PATH}/docs/reference`);
  await reader.getByText('Offline repairs', { exact: true }).first().waitFor();
  await reader.getByRole('link', { name: 'Open app' }).click();
  await title(reader, 'Today').waitFor();
  await reader.close();

  await signOut(page);
  expect(pathOf()).toBe('/returns/admin/sign-in');
  expect(host.outside).toEqual([]);
});
