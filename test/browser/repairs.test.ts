import { readFile } from 'node:fs/promises';
import type { Locator, Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import type { UserRole } from '../../contract/admin-people.ts';
import { newId } from '../../src/ids.ts';
import { newPerson } from '../support/admin.ts';
import { repairBody } from '../support/bodies.ts';
import { openAs, openMove, saidAt } from '../support/browser.ts';
import { type Harness, harness } from '../support/harness.ts';

const newRepair = async (t: Harness, more: Record<string, unknown> = {}) => {
  const { status, body } = await t.post('/offline-repairs', repairBody(more));
  expect(status).toBe(201);
  return body as { id: string; rmaNumber: string };
};

/** A repair that somebody at a counter made. */
const newRepairOfStaff = async (t: Harness, more: Record<string, unknown> = {}) => {
  const person = await newPerson(t, { role: 'STAFF' });
  const { status, body } = await person.post('/offline-repairs', repairBody(more));
  expect(status).toBe(201);
  return body as { id: string; rmaNumber: string };
};

/** Somebody signed in, with the address they signed in with. */
const openWithEmail = async (t: Harness, role: UserRole) => {
  const email = 'clerk@example.com';
  return { page: await openAs(t, role, { email }), email };
};

const searchOf = (page: Page): Record<string, string> => Object.fromEntries(new URL(page.url()).searchParams);
const rowOf = (page: Page, rmaNumber: string): Locator =>
  page.getByRole('row').filter({ has: page.getByRole('link', { name: rmaNumber, exact: true }) });
const field = (page: Page, name: string): Locator => page.getByRole('textbox', { name, exact: true });
const chooseStatus = async (page: Page, label: string): Promise<void> => {
  const status = page.getByRole('combobox', { name: 'Status' });
  await status.selectOption((await status.getByRole('option', { name: label }).getAttribute('value')) ?? '');
};
const chooseOrigin = async (page: Page, label: string): Promise<void> => {
  await page.getByRole('button', { name: 'Filters', exact: true }).click();
  await page.getByRole('combobox', { name: 'Created by' }).selectOption(label);
};
const theTitle = (page: Page, name: string): Locator =>
  page.getByRole('heading', { name, level: 2, exact: true });

describe('the list of repairs', () => {
  it('is empty at first, and leads to the form', async () => {
    const t = await harness();
    const page = await openAs(t, 'STAFF');
    await page.goto('/admin/offline-repairs');
    await page.getByText('No repairs yet').waitFor();
    expect(await page.getByRole('button', { name: 'Export CSV' }).isDisabled()).toBe(true);
    await page.getByRole('link', { name: 'Create the first' }).click();
    await theTitle(page, 'New repair').waitFor();
  });

  it.each(['STAFF', 'ADMIN'] as const)(
    'shows %s what programs and people made; a row leads to the repair and back',
    async (role) => {
      const t = await harness();
      const ofProgram = await newRepair(t);
      const ofStaff = await newRepairOfStaff(t, { customerName: 'Grace Okafor' });
      const page = await openAs(t, role);
      await page.goto('/admin/offline-repairs');
      await rowOf(page, ofProgram.rmaNumber).getByText('Ada Pereira').waitFor();
      await rowOf(page, ofStaff.rmaNumber).getByText('Grace Okafor').waitFor();
      await page.getByText('2 repairs', { exact: true }).waitFor();
      await page.getByRole('link', { name: ofStaff.rmaNumber }).click();
      await theTitle(page, ofStaff.rmaNumber).waitFor();
      expect(new URL(page.url()).pathname).toBe(`/admin/offline-repairs/${ofStaff.id}`);
      await page.getByRole('main').getByRole('link', { name: 'Offline repairs' }).click();
      await rowOf(page, ofProgram.rmaNumber).waitFor();
    },
  );

  it('is filtered by words, status and origin, all in the address', async () => {
    const t = await harness();
    const wanted = await newRepairOfStaff(t, { orderNumber: 'SO-777', startStatus: 'COUNTER_SWAPPED' });
    const other = await newRepair(t, { orderNumber: 'SO-777', startStatus: 'COUNTER_SWAPPED' });
    await newRepairOfStaff(t, { orderNumber: 'SO-778', startStatus: 'COUNTER_SWAPPED' });
    await newRepairOfStaff(t, { orderNumber: 'SO-777' });
    const page = await openAs(t, 'STAFF');
    await page.goto('/admin/offline-repairs');
    await page.getByText('4 repairs', { exact: true }).waitFor();
    await field(page, 'Number, reference, customer, phone, serial …').fill('SO-777');
    await page.getByText('3 repairs', { exact: true }).waitFor();
    await chooseStatus(page, 'Counter swapped');
    await page.getByText('2 repairs', { exact: true }).waitFor();
    await chooseOrigin(page, 'staff');
    await page.getByText('1 repair', { exact: true }).waitFor();
    await rowOf(page, wanted.rmaNumber).waitFor();
    expect(searchOf(page)).toEqual({ q: 'SO-777', status: 'COUNTER_SWAPPED', origin: 'STAFF' });

    await page.reload();
    await page.getByText('1 repair', { exact: true }).waitFor();
    await rowOf(page, wanted.rmaNumber).waitFor();
    expect(await rowOf(page, other.rmaNumber).count()).toBe(0);
    expect(await field(page, 'Number, reference, customer, phone, serial …').inputValue()).toBe('SO-777');
    expect(await page.getByRole('listitem').allTextContents()).toEqual([
      ...['“SO-777”', 'Counter swapped', 'Created by staff', 'Clear filters'],
    ]);

    await page.goBack();
    await page.getByText('2 repairs', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Clear filters' }).click();
    await page.getByText('4 repairs', { exact: true }).waitFor();
    expect(searchOf(page)).toEqual({});
  });

  it('says that nothing was found, and how to find everything again', async () => {
    const t = await harness();
    const { rmaNumber } = await newRepair(t);
    const page = await openAs(t, 'STAFF');
    await page.goto('/admin/offline-repairs?q=nowhere');
    await page.getByText('No repairs like that').waitFor();
    await page.getByRole('button', { name: 'Clear all filters' }).click();
    await rowOf(page, rmaNumber).waitFor();
  });

  it('opens the one repair whose whole number was typed or scanned', async () => {
    const t = await harness();
    const { rmaNumber } = await newRepair(t);
    await newRepair(t);
    const page = await openAs(t, 'STAFF');
    await page.goto('/admin/offline-repairs');
    await rowOf(page, rmaNumber).waitFor();
    await page.keyboard.press('/');
    const search = page.getByRole('dialog', { name: 'Search returns' }).getByRole('combobox');
    await search.waitFor();
    await expect.poll(() => search.and(page.locator(':focus')).count()).toBe(1);
    await page.keyboard.type(rmaNumber);
    await page.keyboard.press('Enter');
    await theTitle(page, rmaNumber).waitFor();
  });

  it('has pages', async () => {
    const t = await harness();
    const oldest = await newRepair(t);
    for (let i = 0; i < 20; i++) await newRepair(t);
    const newest = await newRepair(t);
    const page = await openAs(t, 'STAFF');
    await page.goto('/admin/offline-repairs');
    await page.getByText('22 repairs', { exact: true }).waitFor();
    await page.getByText('of 2', { exact: true }).waitFor();
    await rowOf(page, oldest.rmaNumber).waitFor();
    expect(await rowOf(page, newest.rmaNumber).count()).toBe(0);
    await page.getByRole('button', { name: 'Next page' }).click();
    await rowOf(page, newest.rmaNumber).waitFor();
    expect(searchOf(page)).toEqual({ page: '2' });
    await page.reload();
    await rowOf(page, newest.rmaNumber).waitFor();
    await page.getByRole('textbox', { name: 'Page' }).fill('1');
    await page.keyboard.press('Enter');
    await rowOf(page, oldest.rmaNumber).waitFor();
    await page.goto('/admin/offline-repairs?page=9');
    await page.getByText('This page is empty').waitFor();
    await page.getByRole('button', { name: 'To the first page' }).click();
    await rowOf(page, oldest.rmaNumber).waitFor();
    // A larger page is kept for the next time.
    await page.getByRole('combobox', { name: 'Rows' }).selectOption('50');
    await rowOf(page, newest.rmaNumber).waitFor();
    await page.reload();
    await rowOf(page, newest.rmaNumber).waitFor();
    // The header stays in sight, and no row shows through it, wherever one scrolls to.
    const covered = await page.evaluate(`Array.from({ length: 40 }, (_, step) => {
      window.scrollTo(0, 300 + step * 3);
      return [...document.querySelectorAll('thead th')].filter((cell) => cell.checkVisibility()).map((cell) => {
        const { x, y, width, height } = cell.getBoundingClientRect();
        return [0.2, 0.5, 0.8].every((part) => document.elementFromPoint(x + width / 4, y + height * part)?.closest('thead'));
      });
    }).flat().every(Boolean)`);
    expect(covered).toBe(true);
  });

  it('is exported as it is filtered', async () => {
    const t = await harness();
    const wanted = await newRepair(t, { customerName: 'Pereira, Ada', storeId: 'store-9' });
    const other = await newRepair(t);
    const page = await openAs(t, 'STAFF');
    await page.goto('/admin/offline-repairs?storeId=store-9');
    await rowOf(page, wanted.rmaNumber).waitFor();
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Export CSV' }).click(),
    ]);
    expect(download.suggestedFilename()).toMatch(/^offline-repairs-\d{4}-\d\d-\d\d\.csv$/);
    const text = await readFile(await download.path(), 'utf8');
    const [head, ...rows] = text.trimEnd().split('\r\n');
    expect(head).toMatch(/^\uFEFFNumber,Status,Order number,/);
    expect(rows).toHaveLength(1);
    expect(rows[0]).toContain(`${wanted.rmaNumber},In diagnostics,SO-10042,store-9,"Pereira, Ada"`);
    expect(text).not.toContain(other.rmaNumber);
    await page.getByText('1 repair exported').waitFor();
  });

  it('moves two selected repairs at once, and reports', async () => {
    const t = await harness();
    const [first, second, third] = [await newRepair(t), await newRepair(t), await newRepair(t)];
    const page = await openAs(t, 'STAFF');
    await page.goto('/admin/offline-repairs');
    await page.getByRole('checkbox', { name: `Select ${first.rmaNumber}` }).check();
    await page.getByRole('checkbox', { name: `Select ${second.rmaNumber}` }).check();
    const bar = page.getByRole('region', { name: 'Selected rows' });
    await bar.getByText('2 repairs selected').waitFor();
    await bar.getByRole('button', { name: 'Begin repair' }).click();
    const dialog = page.getByRole('dialog', { name: 'Begin repair: 2 repairs' });
    await dialog.getByLabel('Technician').fill('tech-12');
    await dialog.getByRole('button', { name: 'Begin repair' }).click();
    await dialog.getByText('Repair begun: 2 of 2').waitFor();
    await dialog.getByRole('button', { name: 'Done' }).click();
    await dialog.waitFor({ state: 'hidden' });
    await bar.waitFor({ state: 'hidden' });
    await rowOf(page, first.rmaNumber).getByText('In repair').waitFor();
    await rowOf(page, second.rmaNumber).getByText('In repair').waitFor();
    await rowOf(page, third.rmaNumber).getByText('In diagnostics').waitFor();
    for (const { id } of [first, second])
      expect((await t.get(`/offline-repairs/${id}`)).body).toMatchObject({
        status: 'OFFLINE_REPAIR',
        assignedToId: 'tech-12',
      });
    expect((await t.get(`/offline-repairs/${third.id}`)).body.status).toBe('OFFLINE_DIAGNOSTICS');
  });
});

describe('a repair', () => {
  it('shows all of a timeline that has more than a page', async () => {
    const t = await harness();
    const { id } = await newRepair(t);
    const start = Date.now() + 1000;
    const rows = Array.from({ length: 505 }, (_, i) => ({
      rma_id: id,
      at: start + i,
      id: newId(start + i),
      type: 'NOTE_ADDED' as const,
      actor_type: 'SYSTEM' as const,
      actor_id: null,
      actor_name: 'test',
      from_status: null,
      to_status: null,
      note: `Note ${i + 1}`,
      data: '{}',
    }));
    await t.ctx.db.insertInto('timeline').values(rows).execute();
    const page = await openAs(t, 'STAFF');
    await page.goto(`/admin/offline-repairs/${id}`);
    const story = page.getByLabel('What happened, newest first');
    for (const text of ['Note 505', 'Note 1', 'created this return'])
      await story.getByText(text, { exact: text.startsWith('Note') }).waitFor();
  });

  it.each(['STAFF', 'ADMIN'] as const)(
    'is worked through by %s, and the timeline tells of it',
    async (role) => {
      const t = await harness();
      const { id, rmaNumber } = await newRepair(t);
      const { page, email } = await openWithEmail(t, role);
      await page.goto(`/admin/offline-repairs/${id}`);
      await theTitle(page, rmaNumber).waitFor();
      const story = page.getByLabel('What happened, newest first');
      await story.getByText('created this return').waitFor();
      const begin = async (label: string) => {
        await openMove(page, label);
        return page.getByRole('dialog', { name: `${label}: ${rmaNumber}` });
      };
      const send = async (dialog: Locator, label: string) => {
        await dialog.getByRole('button', { name: label, exact: true }).click();
        await dialog.waitFor({ state: 'hidden' });
      };
      const told = (words: string) =>
        expect.poll(() => story.innerText()).toContain(`${email} (staff) ${words}`);

      const repair = await begin('Begin repair');
      await repair.getByLabel('Technician').fill('tech-12');
      await repair.getByLabel('Repair notes').fill('New heating element');
      await send(repair, 'Begin repair');
      await told('moved it');
      await story.getByText('Technician tech-12').waitFor();

      const tracking = await begin('Add tracking');
      await tracking.getByRole('button', { name: 'Add tracking' }).click();
      await expect
        .poll(() => tracking.getByLabel('Tracking number').getAttribute('aria-invalid'))
        .toBe('true');
      await tracking.getByLabel('Tracking number').fill('JD0146000034');
      await tracking.getByLabel('Carrier').fill('DHL');
      await send(tracking, 'Add tracking');
      await told('added tracking');
      await story.getByText('Tracking JD0146000034 with DHL').waitFor();

      const resolve = await begin('Resolve');
      await resolve.getByRole('radio', { name: 'Write off' }).check();
      await resolve.getByLabel('Notes').fill('Beyond repair');
      await send(resolve, 'Resolve');
      await told('decided what becomes of the item');
      await story.getByText('Beyond repair').waitFor();

      await send(await begin('Close'), 'Close');
      await told('closed it');

      await page.getByLabel('Add a note').fill('The customer was told');
      await page.getByRole('button', { name: 'Add note' }).click();
      await told('noted');
      await story.getByText('The customer was told').waitFor();
      expect(await page.getByLabel('Add a note').inputValue()).toBe('');

      expect((await t.get(`/offline-repairs/${id}`)).body).toMatchObject({
        status: 'OFFLINE_CLOSED',
        assignedToId: 'tech-12',
        repairNotes: 'New heating element',
        trackingNumber: 'JD0146000034',
        carrierName: 'DHL',
        offlineDisposition: 'WRITE_OFF',
      });
    },
  );

  it('tells its exact times to the keyboard, the pointer and a finger', async () => {
    const t = await harness();
    const { id } = await newRepair(t);
    const page = await openAs(t, 'STAFF');
    await page.goto(`/admin/offline-repairs/${id}`);
    const time = page.getByRole('time').first();
    const exact = page.getByRole('tooltip');
    const said = await time.evaluate((element) =>
      new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'long' }).format(
        new Date(element.getAttribute('datetime') ?? ''),
      ),
    );
    await page.getByRole('button', { name: /^Copy #RMA-/ }).focus();
    await page.keyboard.press('Tab');
    await exact.waitFor();
    expect(await exact.textContent()).toBe(said);
    expect(await time.evaluate((element) => element.matches(':focus'))).toBe(true);
    expect(await saidAt(time)).toBe(said);
    await page.keyboard.press('Escape');
    await exact.waitFor({ state: 'detached' });
    await time.hover();
    await exact.waitFor();
    await page.mouse.move(0, 0);
    await exact.waitFor({ state: 'detached' });
  });

  it('warns before it is opened again', async () => {
    const t = await harness();
    const { id, rmaNumber } = await newRepair(t);
    await t.post(`/offline-repairs/${id}/close`, {});
    const page = await openAs(t, 'STAFF');
    await page.goto(`/admin/offline-repairs/${id}`);
    await openMove(page, 'Begin diagnostics');
    const dialog = page.getByRole('dialog', { name: `Begin diagnostics: ${rmaNumber}` });
    await dialog.getByText('This repair is closed; this opens it again.').waitFor();
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    await dialog.waitFor({ state: 'hidden' });
    expect((await t.get(`/offline-repairs/${id}`)).body.status).toBe('OFFLINE_CLOSED');
  });

  it('that is not of this shop is not found', async () => {
    const t = await harness();
    const { client } = await t.addShop();
    const { body } = await t.post('/offline-repairs', repairBody(), { key: client.apiKey });
    const page = await openAs(t, 'ADMIN');
    await page.goto(`/admin/offline-repairs/${body.id}`);
    await page.getByRole('alert').getByText('This repair could not be read').waitFor();
    expect(await page.getByText(body.rmaNumber).count()).toBe(0);
  });
});

const fillRepair = async (page: Page): Promise<void> => {
  await field(page, 'Name').fill('Ada Pereira');
  await field(page, 'E-mail').fill('ada@example.com');
  await field(page, 'Order number').fill('SO-10042');
  await field(page, 'Store').fill('store-7');
  await field(page, 'SKU').fill('KETTLE-17');
  await field(page, 'Product').fill('Kettle 1.7 l');
  await field(page, 'Price of one').fill('49.95');
  await field(page, 'What is wrong').fill('Does not heat up any more');
};

describe('the form for a repair', () => {
  it('says what is missing, then makes the repair and shows it', async () => {
    const t = await harness();
    const { page, email } = await openWithEmail(t, 'STAFF');
    await page.goto('/admin/offline-repairs/new');
    await page.getByRole('button', { name: 'Create repair' }).click();
    await page.getByText(/^\d+ fields need another look\.$/).waitFor();
    expect(await field(page, 'Name').getAttribute('aria-invalid')).toBe('true');
    await fillRepair(page);
    await page.getByText('another look').waitFor({ state: 'hidden' });

    await field(page, 'E-mail').fill('ada at example');
    await page.getByText('1 field needs another look.').waitFor();
    expect(await field(page, 'E-mail').getAttribute('aria-invalid')).toBe('true');
    await field(page, 'E-mail').fill('ada@example.com');
    await page.getByText('another look').waitFor({ state: 'hidden' });

    await page.getByRole('radio', { name: 'Counter swapped' }).check();
    await page.getByRole('button', { name: 'Create repair' }).click();
    await page.getByRole('heading', { name: 'Item and fault' }).waitFor();
    await page.getByLabel('What happened, newest first').getByText(email).waitFor();
  });

  it('keeps what was typed through a lost connection and a reload', async () => {
    const t = await harness();
    const page = await openAs(t, 'STAFF');
    await page.goto('/admin/offline-repairs/new');
    await fillRepair(page);
    await page.context().setOffline(true);
    await page.getByRole('button', { name: 'Create repair' }).click();
    await page.getByText('The service cannot be reached').waitFor();
    expect(await field(page, 'Name').inputValue()).toBe('Ada Pereira');
    await page.context().setOffline(false);
    await page.reload();
    await page.getByText('What you typed before is still here.').waitFor();
    expect(await field(page, 'What is wrong').inputValue()).toBe('Does not heat up any more');
    await page.getByRole('button', { name: 'Create repair' }).click();
    await page.getByRole('heading', { name: 'Item and fault' }).waitFor();
  });

  it('can be started over', async () => {
    const t = await harness();
    const page = await openAs(t, 'STAFF');
    await page.goto('/admin/offline-repairs/new');
    await field(page, 'Name').fill('Ada Pereira');
    await page.reload();
    await page.getByRole('button', { name: 'Start over' }).click();
    await page.getByText('What you typed before').waitFor({ state: 'hidden' });
    expect(await field(page, 'Name').inputValue()).toBe('');
  });
});
