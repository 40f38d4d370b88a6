import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import type { UserRole } from '../../contract/admin-people.ts';
import { newPerson } from '../support/admin.ts';
import {
  expectAccessible,
  expectAccessibleDialog,
  goInside,
  look,
  openAs,
  openMove,
  openPageAs,
  openWindow,
} from '../support/browser.ts';
import { newRepair, newTradeReturn, openFilter, scan } from '../support/browser-pages.ts';
import { startReceiver } from '../support/receiver.ts';
import { webhookHarness } from '../support/webhooks.ts';

/** A shop in which every page has something to show. */
const filledShop = async () => {
  const t = await webhookHarness();
  const receiver = await startReceiver();
  const client = await t.addReceiver(receiver.url);
  const repair = await t.create(client);
  await t.drained();
  const tradeReturn = await newTradeReturn(t);
  const approved = await newTradeReturn(t);
  const staff = await newPerson(t, { role: 'STAFF' });
  expect(await staff.post(`/trade-returns/${approved.id}/approve`, {})).toHaveStatus(200);
  await newRepair(t);
  return {
    t,
    ids: { client: client.id, repair: repair.id, tradeReturn: tradeReturn.id, approved: approved.id },
  };
};
type Ids = Awaited<ReturnType<typeof filledShop>>['ids'];

/** `until` brings the page into the state that is checked. */
type Visit = [name: string, path: string | ((ids: Ids) => string), until: (page: Page) => Promise<unknown>];

const heading = (name: string) => (page: Page) => page.getByRole('heading', { name, exact: true }).waitFor();
const text = (words: string) => (page: Page) => page.getByText(words).first().waitFor();
const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });

const VISITOR: Visit[] = [
  ['sign-in', '/sign-in', heading('Sign in to Handback')],
  ['set-up', '/set-up#x', heading('There is already a shop here')],
  ['forgotten password', '/forgot-password', heading('Forgot your password?')],
  ['a link that was used', '/link#x', heading('This link no longer works')],
];

const listed = async (page: Page) => {
  await page
    .getByRole('checkbox', { name: /^Select #RMA-/ })
    .first()
    .check();
  await page.getByRole('region', { name: 'Selected rows' }).waitFor();
};
const refusedForm = (action: string) => async (page: Page) => {
  await button(page, action).click();
  await page.getByText('fields need another look.').waitFor();
};
const shown = text('created this return');
const cancel = (page: Page) => page.getByRole('dialog').getByRole('button', { name: 'Cancel' });
const moveDialog = (move: string) => async (page: Page) => {
  await shown(page);
  await openMove(page, move);
  await cancel(page).waitFor();
};

const repair = (ids: Ids) => `/offline-repairs/${ids.repair}`;
const tradeReturn = (ids: Ids) => `/trade-returns/${ids.tradeReturn}`;

const openMenu = async (page: Page) => {
  await shown(page);
  await button(page, 'More').click();
};
const searchDialog = async (page: Page) => {
  await text('Next up')(page);
  await page.keyboard.press('Control+k');
  await page.getByRole('dialog').getByText('Commands').waitFor();
};
const dialogBy = (name: string | RegExp, item?: string) => async (page: Page) => {
  await page.getByRole('button', { name }).first().click();
  if (item) await page.getByRole('menuitem', { name: item, exact: true }).click();
  await cancel(page).waitFor();
};
const keysDialog = async (page: Page) => {
  await shown(page);
  await page.keyboard.press('?');
  await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor();
};

const scanned = async (page: Page) => {
  await page.getByRole('radio', { name: 'Start repair' }).check();
  await page.getByRole('textbox', { name: 'Scan a return' }).fill('NOWHERE-1');
  await page.keyboard.press('Enter');
  await page.getByText('No return with this code').first().waitFor();
};

const STAFF: Visit[] = [
  ['Today', '/', text('Next up')],
  ['figures', '/?tab=figures', text('Created per day')],
  ['search', '/', searchDialog],
  ['repairs', '/offline-repairs', listed],
  [
    'repairs, filtered',
    '/offline-repairs?open=all&origin=API&isDangerous=false',
    async (page) => {
      await listed(page);
      await openFilter(page, 'Created');
    },
  ],
  ['repairs, none found', '/offline-repairs?q=nowhere', text('No matches')],
  ['a repair', repair, shown],
  ['a move', repair, moveDialog('Resolve')],
  ['the menu of moves', repair, openMenu],
  ['a correction', repair, moveDialog('Correct details')],
  ['waiting for', repair, moveDialog('Waiting for…')],
  ['the keys', repair, keysDialog],
];

const MORE_OF_STAFF: Visit[] = [
  ['slips', (ids) => `/print?kind=trade-returns&ids=${ids.tradeReturn}`, text('Customer’s signature')],
  ['new repair', '/offline-repairs/new', refusedForm('Create repair')],
  ['trade returns', '/trade-returns', listed],
  ['a trade return', tradeReturn, shown],
  ['new trade return', '/trade-returns/new', refusedForm('Create trade return')],
  ['receiving', ({ approved }) => `/trade-returns/${approved}/receive`, text('0 of 4 pieces')],
  ['scan station', '/scan-station', scanned],
  ['account', '/account', heading('Account')],
  ['nowhere', '/nowhere', heading('Page not found')],
  ['change of password', '/account', dialogBy('Change your password')],
  ['change of email', '/account', dialogBy('Change your email')],
];

const opened = (row: string | RegExp) => (page: Page) =>
  page.getByRole('button', { name: row }).first().click();
const triedRule = async (page: Page) => {
  await page.getByRole('textbox', { name: 'SKU or prefix' }).fill('BATT-*');
  await page.keyboard.press('Enter');
  await page.getByRole('textbox', { name: 'SKU', exact: true }).fill('BATT-18V');
  await page.getByText('Dangerous: matches').waitFor();
};

const foundCustomer = async (page: Page) => {
  await page.getByRole('textbox', { name: 'Email or phone' }).fill('ada@example.com');
  await button(page, 'Find').click();
  await page.getByText('2 returns for ada@example.com').waitFor();
};

const ADMIN: Visit[] = [
  ['shop', '/settings/shop', text('Received by the shop')],
  ['clients', '/settings/external-api', text('Receiver')],
  [
    'deliveries',
    (ids) => `/settings/external-api/${ids.client}`,
    opened('Details of offline_repair.created'),
  ],
  ['team', '/settings/team', text('You')],
  ['targets', '/settings/targets', heading('Targets')],
  ['plan', '/settings/plan', text('Billing')],
  ['personal data', '/settings/personal-data', foundCustomer],
  ['audit log', '/settings/audit-log', opened(/^Details of /)],
  ['dangerous goods', '/settings/dangerous-goods', triedRule],
];

const newKey = async (page: Page) => {
  await button(page, 'New client').click();
  await page.getByRole('textbox', { name: 'Name' }).fill('Kiosk');
  await page.keyboard.press('Control+Enter');
  await page.getByRole('dialog', { name: 'Kiosk is ready' }).waitFor();
};

const DIALOGS_OF_ADMIN: Visit[] = [
  ['a new client', '/settings/external-api', dialogBy('New client')],
  ['a new key', '/settings/external-api', newKey],
  ['an edited client', '/settings/external-api', dialogBy(/^More for/, 'Edit')],
  ['a replaced client', '/settings/external-api', dialogBy(/^More for/, 'Replace')],
  ['a revoked client', '/settings/external-api', dialogBy(/^More for/, 'Revoke')],
  ['an invitation', '/settings/team', dialogBy('Invite person')],
  ['an edited person', '/settings/team', dialogBy(/^More for/, 'Edit')],
  ['a removed person', '/settings/team', dialogBy(/^More for/, 'Remove from team')],
];

// Colours come with the scheme and layout with the width, so each page is seen in both schemes and at both widths.
const LOOKS = [
  { scheme: 'light', width: 1280 },
  { scheme: 'dark', width: 390 },
] as const;

/** These lead to other pages, or need a shop that asks for a second factor (`journeys/sign-in.test.ts`). */
const NOT_VISITED = ['/bench', '/second-factor', '/settings'];

/** The router's own form of a path: `$id` stands for an id. */
const patternOf = (route: string): RegExp =>
  new RegExp(`^${route.replace(/\$$/, 'nowhere').replace(/\$\w+/g, '[^/]*\\d[^/]*')}$`);

it('visits every page of the app', async () => {
  const page = await openWindow((await filledShop()).t);
  await page.goto('/admin/sign-in');
  const routes = await page.evaluate<string[]>('Object.keys(__TSR_ROUTER__.routesByPath)');
  const ids: Ids = { client: '1', repair: '1', tradeReturn: '1', approved: '1' };
  const visited = VISITS.flatMap(({ visits }) => visits).map(([, path]) =>
    (typeof path === 'string' ? path : path(ids)).replace(/[?#].*/, ''),
  );
  const missed = routes.filter((route) => !visited.some((path) => patternOf(route).test(path)));
  expect(missed.sort()).toEqual(NOT_VISITED.sort());
});

const VISITS: { who: UserRole | 'a visitor'; visits: Visit[] }[] = [
  { who: 'a visitor', visits: VISITOR },
  { who: 'STAFF', visits: STAFF },
  { who: 'STAFF', visits: MORE_OF_STAFF },
  { who: 'ADMIN', visits: ADMIN },
  { who: 'ADMIN', visits: DIALOGS_OF_ADMIN },
];

it.each(VISITS)(
  'axe finds no violations in light and dark, wide and narrow, on pages for $who',
  async ({ who, visits }) => {
    const { t, ids } = await filledShop();
    const page = await (who === 'a visitor' ? openWindow(t) : openAs(t, who));
    for (const [i, [name, path, until]] of visits.entries()) {
      await page.setViewportSize({ width: LOOKS[0].width, height: 900 });
      const address = `/admin${typeof path === 'string' ? path : path(ids)}`;
      // Links inside the app exist only for people who are signed in, and a dialog may outlive its page.
      const isInside = i > 0 && who !== 'a visitor' && (await page.getByRole('dialog').count()) === 0;
      await (isInside ? goInside(page, address) : page.goto(address));
      await until(page);
      for (const { scheme, width } of LOOKS) {
        const where = `${name}, ${scheme}, ${width} px`;
        await look(page, { scheme, width });
        const isDialog = (await page.getByRole('dialog').count()) > 0;
        await (isDialog ? expectAccessibleDialog : expectAccessible)(page, where);
        // Nothing sticks out at the side.
        const fits = await page.evaluate('document.documentElement.scrollWidth <= window.innerWidth');
        expect(fits, where).toBe(true);
      }
    }
  },
);

/** The colour of the labelled element's border, and of what is behind it. */
const coloursOf = (label: string) => `(() => {
  let at = document.querySelector('[aria-label="${label}"]');
  const border = getComputedStyle(at).borderTopColor;
  const background = () => getComputedStyle(at).backgroundColor;
  while (background() === 'rgba(0, 0, 0, 0)') at = at.parentElement;
  return [border, background()];
})()`;

/** How bright a colour is, as WCAG reckons it. */
const luminance = (colour: string): number => {
  const [r = 0, g = 0, b = 0] = (colour.match(/[\d.]+/g) ?? []).map((part) => {
    const share = Number(part) / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
};
const contrastOf = (colours: [string, string]): number => {
  const [dark = 0, light = 0] = colours.map(luminance).sort((one, other) => one - other);
  return (light + 0.05) / (dark + 0.05);
};

const expectSeen = async (page: Page, label: string): Promise<void> => {
  await page.locator(`[aria-label="${label}"]`).first().waitFor();
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme });
    const contrast = async () => contrastOf((await page.evaluate(coloursOf(label))) as [string, string]);
    await expect.poll(contrast, { message: `${label}, ${colorScheme}` }).toBeGreaterThan(3);
  }
};

it('unselected and disabled controls have enough contrast', async () => {
  const t = await webhookHarness({ sending: false });
  const page = await openPageAs('Today', t, 'STAFF');
  await expectSeen(page, 'To do');
  await newRepair(t);
  await goInside(page, '/admin/offline-repairs');
  await expectSeen(page, 'Select all on this page');
});

it('the menu of a phone is within reach, and a toast covers neither it nor what is above it', async () => {
  const t = await webhookHarness({ sending: false });
  await newRepair(t);
  const page = await openPageAs('Repairs', t, 'ADMIN', { width: 390 });
  const bar = page.getByRole('navigation', { name: 'Pages' });
  for (const target of [...(await bar.getByRole('link').all()), bar.getByRole('button', { name: 'More' })]) {
    if (!(await target.isVisible())) continue;
    const box = await target.boundingBox();
    expect(Math.min(box?.width ?? 0, box?.height ?? 0)).toBeGreaterThanOrEqual(44);
  }
  await bar.getByRole('button', { name: 'More' }).click();
  await bar.getByRole('link', { name: 'Settings' }).waitFor();
  await expectAccessible(page);
  await bar.getByRole('link', { name: 'Settings' }).click();
  await page.getByRole('combobox', { name: 'Settings' }).selectOption('Targets');
  await page.getByRole('heading', { name: 'Targets', level: 2 }).waitFor();
  expect(await bar.getByRole('link', { name: 'Settings' }).isVisible()).toBe(false);

  // A toast says that this code was not found.
  await scan(page, 'NOWHERE-1');
  const toast = page.getByRole('alert').filter({ hasText: 'NOWHERE-1' });
  // The time after which it closes starts again when the pointer leaves it.
  await toast.hover();
  await look(page, { width: 390 });
  const [shown, menu] = await Promise.all([toast.boundingBox(), bar.boundingBox()]);
  expect((shown?.y ?? 0) + (shown?.height ?? 0)).toBeLessThanOrEqual(menu?.y ?? 0);
  await toast.hover();
  await look(page, { width: 1280 });
  const wide = await toast.boundingBox();
  expect(wide?.x).toBeGreaterThan((await bar.boundingBox())?.width ?? 0);
});
