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

interface Visit {
  name: string;
  path: string | ((ids: Ids) => string);
  /** Brings the page to where all of it is to be seen. */
  until: (page: Page) => Promise<unknown>;
}

const heading = (name: string) => (page: Page) => page.getByRole('heading', { name, exact: true }).waitFor();
const text = (words: string) => (page: Page) => page.getByText(words).first().waitFor();
const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });

const VISITOR: Visit[] = [
  { name: 'sign-in', path: '/sign-in', until: heading('Sign in to Handback') },
  { name: 'set-up', path: '/set-up#x', until: heading('There is already a shop here') },
  { name: 'forgotten password', path: '/forgot-password', until: heading('Forgot your password?') },
  { name: 'a link that was used', path: '/link#x', until: heading('This link no longer works') },
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
const moveDialog = (move: string) => async (page: Page) => {
  await page.getByText('created this return').waitFor();
  await openMove(page, move);
  await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).waitFor();
};

const repair = (ids: Ids) => `/offline-repairs/${ids.repair}`;
const tradeReturn = (ids: Ids) => `/trade-returns/${ids.tradeReturn}`;

const openMenu = async (page: Page) => {
  await page.getByText('created this return').waitFor();
  await button(page, 'More').click();
};
const correctDialog = async (page: Page) => {
  await openMenu(page);
  await page.getByRole('menuitem', { name: 'Correct details' }).click();
  await page.getByRole('dialog').getByLabel('Serial number').waitFor();
};
const waitingDialog = async (page: Page) => {
  await openMenu(page);
  await page.getByRole('menuitem', { name: 'Waiting for…' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Save' }).waitFor();
};
const searchDialog = async (page: Page) => {
  await text('Next up')(page);
  await page.keyboard.press('Control+k');
  await page.getByRole('dialog').getByText('Commands').waitFor();
};
const keysDialog = async (page: Page) => {
  await page.getByText('created this return').waitFor();
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
  { name: 'Today', path: '/', until: text('Next up') },
  { name: 'figures', path: '/?tab=figures', until: text('Created per day') },
  { name: 'search', path: '/', until: searchDialog },
  { name: 'repairs', path: '/offline-repairs', until: listed },
  {
    name: 'repairs, filtered',

    path: '/offline-repairs?open=all&origin=API&isDangerous=false',
    until: async (page) => {
      await listed(page);
      await openFilter(page, 'Created');
    },
  },
  { name: 'repairs, none found', path: '/offline-repairs?q=nowhere', until: text('No matches') },
  { name: 'a repair', path: repair, until: text('created this return') },
  { name: 'a move', path: repair, until: moveDialog('Resolve') },
  { name: 'the menu of moves', path: repair, until: openMenu },
  { name: 'a correction', path: repair, until: correctDialog },
  { name: 'waiting for', path: repair, until: waitingDialog },
  { name: 'the keys', path: repair, until: keysDialog },
];

const MORE_OF_STAFF: Visit[] = [
  {
    name: 'slips',

    path: (ids) => `/print?kind=trade-returns&ids=${ids.tradeReturn}`,
    until: text('Customer’s signature'),
  },
  { name: 'new repair', path: '/offline-repairs/new', until: refusedForm('Create repair') },
  { name: 'trade returns', path: '/trade-returns', until: listed },
  { name: 'a trade return', path: tradeReturn, until: text('created this return') },
  {
    name: 'new trade return',

    path: '/trade-returns/new',
    until: refusedForm('Create trade return'),
  },
  {
    name: 'receiving',
    path: ({ approved }) => `/trade-returns/${approved}/receive`,
    until: text('0 of 4 pieces'),
  },
  { name: 'scan station', path: '/scan-station', until: scanned },
  { name: 'account', path: '/account', until: heading('Account') },
  { name: 'nowhere', path: '/nowhere', until: heading('Page not found') },
];

const opened = (row: string | RegExp) => async (page: Page) => {
  await page.getByRole('button', { name: row }).first().click();
};
const triedRule = async (page: Page) => {
  await page.getByRole('textbox', { name: 'SKU or prefix' }).fill('BATT-*');
  await page.keyboard.press('Enter');
  await page.getByRole('textbox', { name: 'SKU', exact: true }).fill('BATT-18V');
  await page.getByText('Dangerous: matches').waitFor();
};

const ADMIN: Visit[] = [
  { name: 'shop', path: '/settings/shop', until: text('Received by the shop') },
  { name: 'clients', path: '/settings/external-api', until: text('Receiver') },
  {
    name: 'deliveries',

    path: (ids) => `/settings/external-api/${ids.client}`,
    until: opened('Details of offline_repair.created'),
  },
  { name: 'team', path: '/settings/team', until: text('You') },
  { name: 'targets', path: '/settings/targets', until: heading('Targets') },
  { name: 'plan', path: '/settings/plan', until: text('Billing') },
  {
    name: 'personal data',

    path: '/settings/personal-data',
    until: async (page) => {
      await page.getByRole('textbox', { name: 'E-mail or phone' }).fill('ada@example.com');
      await page.getByRole('button', { name: 'Find' }).click();
      await page.getByText('2 returns for ada@example.com').waitFor();
    },
  },
  {
    name: 'audit log',

    path: '/settings/audit-log',
    until: opened(/^Details of /),
  },
  { name: 'dangerous goods', path: '/settings/dangerous-goods', until: triedRule },
];

// Colours come with the scheme and layout with the width, so each page is seen in both schemes and at both widths.
const LOOKS = [
  { scheme: 'light', width: 1280 },
  { scheme: 'dark', width: 390 },
] as const;

/** These lead to other pages, or need a shop that asks for a second factor (`journeys/sign-in.test.ts`). */
const NOT_VISITED = ['/bench', '/second-factor', '/settings'];

/** As the router has them, with `$id` for an id. */
const patternOf = (route: string): RegExp =>
  new RegExp(`^${route.replace(/\$$/, 'nowhere').replace(/\$\w+/g, '[^/]*\\d[^/]*')}$`);

it('visits every page of the app', async () => {
  const page = await openWindow((await filledShop()).t);
  await page.goto('/admin/sign-in');
  const routes = await page.evaluate<string[]>('Object.keys(__TSR_ROUTER__.routesByPath)');
  const ids: Ids = { client: '1', repair: '1', tradeReturn: '1', approved: '1' };
  const visited = VISITS.flatMap(({ visits }) => visits).map(({ path }) =>
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
];

it.each(VISITS)(
  'axe finds no violations in light and dark, wide and narrow, on pages for $who',
  async ({ who, visits }) => {
    const { t, ids } = await filledShop();
    const page = await (who === 'a visitor' ? openWindow(t) : openAs(t, who));
    for (const [i, { name, path, until }] of visits.entries()) {
      await page.setViewportSize({ width: LOOKS[0].width, height: 900 });
      const address = `/admin${typeof path === 'string' ? path : path(ids)}`;
      // Inside the app there are only pages of people who signed in, and a dialog may outlive its page.
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

/** Of what has such a label: the colour of its border, and of what is behind it. */
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

  // What is scanned here is not found, which a toast says.
  await scan(page, 'NOWHERE-1');
  const toast = page.getByRole('alert').filter({ hasText: 'NOWHERE-1' });
  // Its time begins anew when the pointer leaves it.
  await toast.hover();
  await look(page, { width: 390 });
  const [shown, menu] = await Promise.all([toast.boundingBox(), bar.boundingBox()]);
  expect((shown?.y ?? 0) + (shown?.height ?? 0)).toBeLessThanOrEqual(menu?.y ?? 0);
  await toast.hover();
  await look(page, { width: 1280 });
  const wide = await toast.boundingBox();
  expect(wide?.x).toBeGreaterThan((await bar.boundingBox())?.width ?? 0);
});
