import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { newPerson } from '../support/admin.ts';
import { goInside, openAs, openPageAs, saidAt } from '../support/browser.ts';
import {
  expectFocus,
  expectValue,
  field,
  fillIn,
  REPAIR_FIELDS,
  TRADE_FIELDS,
  title,
} from '../support/browser-pages.ts';
import { itWith } from '../support/fixtures.ts';
import { sharedHarness } from '../support/harness.ts';

const it = itWith(sharedHarness());

const KINDS = [
  { path: '/offline-repairs', action: 'Create repair', link: 'New repair', fields: REPAIR_FIELDS },
  {
    path: '/trade-returns',
    action: 'Create trade return',
    link: 'New trade return',
    fields: {
      ...TRADE_FIELDS,
      'SKU, line 1': 'LAMP-OAK',
      'Product, line 1': 'Oak table lamp',
      'Unit price, line 1': '120.5',
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

// The worst moment for a connection to go: the service has made the return, and the form does not hear of it.
it.for(KINDS)('a lost answer at $path makes one return', async ({ path, action, link, fields }, { t }) => {
  const staff = await newPerson(t, { role: 'STAFF' });
  const totalOf = async () => (await staff.get(path)).body.total;
  const page = await openAs(t, 'STAFF');
  const send = () => page.getByRole('button', { name: action }).click();
  const loseAnswer = async () => {
    await fillIn(page, fields);
    await loseNextAnswer(page, path);
    await send();
    await page.getByRole('alert').getByText('Not created yet; what you typed is kept').waitFor();
  };
  const isShown = () => page.getByRole('link', { name: 'Print slip' }).waitFor();
  const startAnother = async () => {
    await page.getByRole('main').getByRole('link').first().click();
    await page.getByRole('link', { name: link }).click();
    await title(page, link).waitFor();
  };

  await page.goto(`/admin${path}/new`);
  await loseAnswer();
  expect(await totalOf()).toBe(1);
  await send();
  await isShown();
  const { total, items } = (await staff.get(path)).body;
  expect(total).toBe(1);
  await title(page, items[0].rmaNumber).waitFor();

  // The next one is another one, also where everything about it is the same.
  await startAnother();
  await loseAnswer();
  await page.reload();
  await page.getByText('What you typed before is still here.').waitFor();
  await send();
  await isShown();
  expect(await totalOf()).toBe(2);

  await startAnother();
  await fillIn(page, fields);
  await send();
  await isShown();
  expect(await totalOf()).toBe(3);
});

it('a form can be started over, and Cancel forgets the customer that was typed', async ({ t }) => {
  const page = await openPageAs('New repair', t, 'STAFF');
  await field(page, 'Name').fill('Ada Pereira');
  await page.reload();
  await page.getByRole('button', { name: 'Start over' }).click();
  await page.getByText('What you typed before').waitFor({ state: 'hidden' });
  await expectValue(field(page, 'Name'), '');

  await field(page, 'Name').fill('Grace Okafor');
  await page.getByRole('link', { name: 'Cancel' }).click();
  await page.getByText('No repairs yet').waitFor();
  await page.getByRole('link', { name: 'New repair' }).click();
  await title(page, 'New repair').waitFor();
  await expectValue(field(page, 'Name'), '');
  expect(await page.getByText('What you typed before is still here.').count()).toBe(0);
});

it('a price is read as people write it, and asked about where it can be read in two ways', async ({ t }) => {
  const staff = await newPerson(t, { role: 'STAFF' });
  const page = await openPageAs('New repair', t, 'STAFF');
  await fillIn(page, REPAIR_FIELDS);
  const price = field(page, 'Price of one');
  const type = async (text: string) => {
    await price.fill('');
    await price.pressSequentially(text);
    await price.press('Tab');
  };
  await type('1\u202F299,5');
  await expectValue(price, '1299.5');

  await type('1,299');
  await expect.poll(() => saidAt(price)).toBe('Did you mean 1299 or 1.2990?');
  await page.getByRole('button', { name: 'Create repair' }).click();
  await page.getByText('1 field needs another look.').waitFor();
  await expectFocus(price);
  await page.getByRole('button', { name: '1.2990', exact: true }).click();
  await expectValue(price, '1.2990');
  await expectFocus(price);
  await price.press('Tab');
  await page.getByText('another look').waitFor({ state: 'hidden' });
  await type('1.299');
  await page.getByRole('button', { name: '1299', exact: true }).click();
  await type('1,299.50');
  await page.getByRole('button', { name: 'Create repair' }).click();
  await page.getByRole('link', { name: 'Print slip' }).waitFor();
  expect((await staff.get('/offline-repairs')).body.items[0].faultyItem).toMatchObject({
    price: 1299.5,
    quantity: 1,
  });

  await goInside(page, '/admin/trade-returns/new');
  await page.getByLabel('Quantity, line 1').fill('1.200');
  await page.getByLabel('Unit price, line 1').fill('1,299.00');
  await page.getByText('total 0.00').waitFor();
  await page.getByRole('button', { name: '1200', exact: true }).click();
  await page.getByText('total 1,558,800.00').waitFor();
});
