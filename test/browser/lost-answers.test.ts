import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { newPerson } from '../support/admin.ts';
import { openAs } from '../support/browser.ts';
import { harness } from '../support/harness.ts';

// The worst moment for a connection to go: the service has made the return, and the form does not hear of it.

const KINDS = [
  {
    path: '/offline-repairs',
    action: 'Create repair',
    fields: {
      Name: 'Ada Pereira',
      'E-mail': 'ada@example.com',
      'Order number': 'SO-10042',
      Store: 'store-7',
      SKU: 'KETTLE-17',
      Product: 'Kettle 1.7 l',
      'Price of one': '49.95',
      'What is wrong': 'Does not heat up any more',
    },
  },
  {
    path: '/trade-returns',
    action: 'Create trade return',
    fields: {
      Company: 'Northwind Interiors',
      'Company id': 'company-118',
      Contact: 'Nora Wind',
      'E-mail': 'buying@northwind.example',
      'Trade order number': 'TO-5501',
      Reason: 'Damaged in transit',
      SKU: 'LAMP-OAK',
      Product: 'Oak table lamp',
      'Price of one': '120.5',
      Street: '12 Harbour Road',
      Suburb: 'Port Melbourne',
      State: 'VIC',
      Postcode: '3207',
    },
  },
];

/** Lets the next creation through to the service, and loses the answer. */
const loseNextAnswer = (page: Page, path: string) =>
  page.route(
    `**/admin/api${path}`,
    async (route) => {
      const answer = await route.fetch();
      expect(answer.status()).toBe(201);
      await route.abort('internetdisconnected');
    },
    { times: 1 },
  );

it.each(KINDS)(
  'a form at $path whose answer was lost makes one return, sent again as it stands',
  async (kind) => {
    const { path, action, fields } = kind;
    const t = await harness();
    const staff = await newPerson(t, { role: 'STAFF' });
    const page = await openAs(t, 'STAFF');
    await page.goto(`/admin${path}/new`);
    for (const [name, text] of Object.entries(fields))
      await page.getByRole('textbox', { name, exact: true }).fill(text);
    await loseNextAnswer(page, path);
    await page.getByRole('button', { name: action }).click();
    await page.getByRole('alert').getByText('Not created yet; what you typed is kept').waitFor();
    expect((await staff.get(path)).body.total).toBe(1);
    await page.getByRole('button', { name: action }).click();
    await page.getByRole('link', { name: 'Print slip' }).waitFor();
    const { total, items } = (await staff.get(path)).body;
    expect(total).toBe(1);
    await page.getByRole('heading', { name: items[0].rmaNumber }).waitFor();
  },
);

it.each(KINDS)(
  'a form at $path whose answer was lost makes one return, sent again after a reload',
  async (kind) => {
    const { path, action, fields } = kind;
    const t = await harness();
    const staff = await newPerson(t, { role: 'STAFF' });
    const page = await openAs(t, 'STAFF');
    await page.goto(`/admin${path}/new`);
    for (const [name, text] of Object.entries(fields))
      await page.getByRole('textbox', { name, exact: true }).fill(text);
    await loseNextAnswer(page, path);
    await page.getByRole('button', { name: action }).click();
    await page.getByRole('alert').getByText('Not created yet; what you typed is kept').waitFor();
    await page.reload();
    await page.getByText('What you typed before is still here.').waitFor();
    await page.getByRole('button', { name: action }).click();
    await page.getByRole('link', { name: 'Print slip' }).waitFor();
    expect((await staff.get(path)).body.total).toBe(1);

    // The next one is another one, also where everything about it is the same.
    await page.goto(`/admin${path}/new`);
    for (const [name, text] of Object.entries(fields))
      await page.getByRole('textbox', { name, exact: true }).fill(text);
    await page.getByRole('button', { name: action }).click();
    await page.getByRole('link', { name: 'Print slip' }).waitFor();
    expect((await staff.get(path)).body.total).toBe(2);
  },
);
