import type { Locator, Page } from 'playwright-core';
import { expect } from 'vitest';
import { newId } from '../../src/lib/ids.ts';
import { newPerson, PASSWORD } from '../support/admin.ts';
import { repairBody } from '../support/bodies.ts';
import {
  accessibleEverywhere,
  expectAccessible,
  expectAccessibleDialog,
  look,
  openAs,
  openAt,
  openMove,
  openWindow,
  saidAt,
} from '../support/browser.ts';
import {
  age,
  closeBy,
  emailAt,
  enterCode,
  expectFocus,
  expectValue,
  type Made,
  newRepair,
  newRepairs,
  newTradeReturn,
  title,
  typeFast,
} from '../support/browser-pages.ts';
import { itWith } from '../support/fixtures.ts';
import { type Harness, sharedHarness } from '../support/harness.ts';

const it = itWith(sharedHarness());

const openRepair = async (page: Page, { id, rmaNumber }: Made) => {
  await page.goto(`/admin/offline-repairs/${id}`);
  await title(page, rmaNumber).waitFor();
};

const statusOf = async (t: Harness, { id }: Made): Promise<string> =>
  (await t.get(`/offline-repairs/${id}`)).body.status;

/** A window of one of the staff, on the page of a repair. */
const showRepair = async (t: Harness, repair: Made): Promise<Page> => {
  const page = await openAs(t, 'STAFF');
  await openRepair(page, repair);
  return page;
};

/** This item of the menu opens the dialog of a move that the button makes at once. */
const WITH_NOTES = 'Start repair with notes…';

const dialogOf = (page: Page, label: string): Locator => page.getByRole('dialog', { name: label });

it('a move that came too late shows who did what, and needs confirmation', async ({ t }) => {
  const ana = await newPerson(t, { role: 'STAFF', name: 'Ana Lopez' });
  const repair = await newRepair(t);
  const page = await showRepair(t, repair);
  await openMove(page, WITH_NOTES);
  const dialog = dialogOf(page, 'Start repair');
  await dialog.getByLabel('Repair notes').fill('New heating element');
  await ana.post(`/offline-repairs/${repair.id}/resolve`, { offlineDisposition: 'WRITE_OFF' });
  await ana.post(`/offline-repairs/${repair.id}/close`, {});

  await dialog.getByRole('button', { name: 'Start repair' }).click();
  await dialog.getByText('Ana Lopez resolved it (Write off)').waitFor();
  await dialog.getByText('Ana Lopez closed it').waitFor();
  await dialog.getByText('The outcome “Write off” stays until it is resolved again.').waitFor();
  await expectValue(dialog.getByLabel('Repair notes'), 'New heating element');

  await closeBy(dialog, 'Cancel');
  expect(await statusOf(t, repair)).toBe('OFFLINE_CLOSED');
  await openMove(page, 'Start repair');
  await expectValue(dialog.getByLabel('Repair notes'), 'New heating element');
  await ana.post(`/offline-repairs/${repair.id}/begin-diagnostics`, {});
  await dialog.getByRole('button', { name: 'Start repair' }).click();
  await dialog.getByText('Ana Lopez changed status to In diagnostics').waitFor();
  await closeBy(dialog, 'Continue anyway');
  await page.getByText('From before it was reopened').waitFor();
});

it('half-written notes and moves survive Escape, a reload and the end of the session', async ({ t }) => {
  const repair = await newRepair(t);
  const email = emailAt(t, 'clerk');
  const page = await openAs(t, 'STAFF', { email });
  await openRepair(page, repair);
  await page.getByLabel('Add a note').fill('The customer was');
  await openMove(page, WITH_NOTES);
  const dialog = dialogOf(page, 'Start repair');
  const notes = dialog.getByLabel('Repair notes');
  await notes.fill('New heating');
  await page.mouse.click(5, 450);
  await expectValue(notes, 'New heating');
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'hidden' });
  await openMove(page, WITH_NOTES);
  await dialog.getByText('What you typed before is still here.').waitFor();
  await expectValue(notes, 'New heating');
  await notes.fill('New heating element');
  await page.reload();
  await dialog.waitFor();
  await expectValue(notes, 'New heating element');

  await t.ctx.db.deleteFrom('sessions').execute();
  await dialog.getByRole('button', { name: 'Start repair' }).click();
  const again = page.getByRole('dialog', { name: 'Sign in again' });
  await again.getByText(email).waitFor();
  const password = again.getByLabel('Password').and(page.locator('input'));
  await password.fill('not the password');
  await page.keyboard.press('Enter');
  await again.getByRole('alert').waitFor();
  await page.keyboard.press('Escape');
  await password.fill(PASSWORD);
  await closeBy(again, 'Sign in');
  await dialog.getByText('What you typed is still here: try again.').waitFor();
  expect(await page.getByText('signed out').count()).toBe(0);
  await expectValue(notes, 'New heating element');
  await closeBy(dialog, 'Start repair');
  expect((await t.get(`/offline-repairs/${repair.id}`)).body.repairNotes).toBe('New heating element');
  await expectValue(page.getByLabel('Add a note'), 'The customer was');
  await page.getByLabel('Add a note').fill('The customer was told');
  await page.getByRole('main').getByRole('button', { name: 'Add note' }).click();
  await expectValue(page.getByLabel('Add a note'), '');

  // What was cancelled does not come back.
  const resolve = dialogOf(page, 'Resolve');
  await openMove(page, 'Resolve');
  await resolve.getByLabel('Notes').fill('Nonsense');
  await closeBy(resolve, 'Cancel');
  await openMove(page, 'Resolve');
  await expectValue(resolve.getByLabel('Notes'), '');
});

// The error of an empty field comes half a second after the last key: by then the form has emptied itself.
it('a cleared form shows no error until something is typed again', async ({ t }) => {
  const repair = await newRepair(t);
  const page = await openAs(t, 'STAFF', { ownProfile: true });
  await page.clock.install();
  const expectError = async (input: Locator, error: string | null) => {
    await page.clock.runFor(1_000);
    await expect.poll(() => input.getAttribute('aria-invalid')).toBe(error);
  };

  await openRepair(page, repair);
  const note = page.getByLabel('Add a note');
  await note.fill('The customer was told');
  await page.getByRole('main').getByRole('button', { name: 'Add note' }).click();
  await expectValue(note, '');
  await expectError(note, null);
  await page.getByLabel('What happened, newest first').getByText('The customer was told').waitFor();
  await note.fill('And');
  await note.fill('');
  await expectError(note, 'true');

  await page.goto('/admin/offline-repairs/new');
  const name = page.getByRole('textbox', { name: 'Name', exact: true });
  await name.fill('Ada');
  await page.reload();
  await name.fill('Ada Pereira');
  await page.getByRole('button', { name: 'Start over' }).click();
  await expectValue(name, '');
  await expectError(name, null);
  await page.getByRole('button', { name: 'Create repair' }).click();
  await expectError(name, 'true');
});

it("half-typed corrections survive a reload, and never overwrite a colleague's", async ({ t }) => {
  const ana = await newPerson(t, { role: 'STAFF', name: 'Ana Lopez' });
  const repair = await newRepair(t);
  const page = await showRepair(t, repair);
  await openMove(page, 'Correct details');
  const dialog = dialogOf(page, 'Correct details');
  await dialog.getByLabel('Customer').fill('Ada Pereira-Li');
  const { updatedAt } = (await ana.get(`/offline-repairs/${repair.id}`)).body;
  await ana.post(`/offline-repairs/${repair.id}/correct`, { serialNumber: 'SN-NEW', seen: updatedAt });

  await page.reload();
  await dialog.getByText('What you typed before is still here.').waitFor();
  await expectValue(dialog.getByLabel('Customer'), 'Ada Pereira-Li');
  await dialog.getByRole('button', { name: 'Save' }).click();
  await dialog.getByText('This was corrected meanwhile').waitFor();
  await closeBy(dialog, 'Save');
  expect((await t.get(`/offline-repairs/${repair.id}`)).body).toMatchObject({
    customerName: 'Ada Pereira-Li',
    faultyItem: { serialNumber: 'SN-NEW' },
  });

  // Closed with Escape it stays closed after a reload, and has what was typed when it is opened again.
  await openMove(page, 'Correct details');
  await dialog.getByLabel('Customer').fill('Ada P');
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'hidden' });
  await page.reload();
  await openMove(page, 'Correct details');
  await dialog.getByText('What you typed before is still here.').waitFor();
  await expectValue(dialog.getByLabel('Customer'), 'Ada P');
  await closeBy(dialog, 'Cancel');
  await page.reload();
  await title(page, repair.rmaNumber).waitFor();
  expect(await dialog.count()).toBe(0);
});

it('keys step from return to return of the list that it was opened from', async ({ t }) => {
  const numbers: string[] = [];
  for (let i = 0; i < 3; i++) numbers.push((await newRepair(t)).rmaNumber);
  const page = await openAt('/offline-repairs?q=so-10042&sort=number&order=asc', t, 'STAFF');
  const shown = (number = '') => title(page, number).waitFor();
  await page.getByRole('link', { name: numbers[0] ?? '' }).click();
  await shown(numbers[0]);
  await page.getByText('1 of 3', { exact: true }).waitFor();
  await page.keyboard.press('j');
  await shown(numbers[1]);
  await page.keyboard.press('k');
  await shown(numbers[0]);
  await page.getByRole('button', { name: 'Next repair' }).click();
  await shown(numbers[1]);
  await page.getByText('2 of 3', { exact: true }).waitFor();

  // In a field and in a dialog, keys are letters.
  await page.getByLabel('Add a note').pressSequentially('juku?', { delay: 60 });
  await shown(numbers[1]);
  await expectValue(page.getByLabel('Add a note'), 'juku?');
  await page.getByLabel('Add a note').fill('');
  await page.getByRole('heading', { name: 'Timeline' }).click();
  // The keys of a scanner are no shortcuts either.
  await typeFast(page, 'SN-juk');
  await page.reload();
  await page.getByText('2 of 3', { exact: true }).waitFor();
  await page.keyboard.press('?');
  const keys = page.getByRole('dialog', { name: 'Keyboard shortcuts' });
  for (const label of ['Next repair', 'Previous repair', 'Back to the list'])
    await keys.getByText(label).waitFor();
  expect(await keys.getByRole('listitem').filter({ hasText: 'Search' }).allInnerTexts()).toHaveLength(1);
  await page.keyboard.press('j');
  await page.keyboard.press('Escape');
  await keys.waitFor({ state: 'hidden' });
  await shown(numbers[1]);

  await page.keyboard.press('u');
  await page.getByText('3 repairs', { exact: true }).waitFor();
});

it('typing errors can be corrected, and earlier returns with the same serial number are shown', async ({
  t,
}) => {
  const serial = { ...repairBody().faultyItem, serialNumber: 'SN-1' };
  const earlier = await newRepair(t, { faultyItem: serial });
  const page = await showRepair(t, await newRepair(t, { faultyItem: serial, customerName: 'Ada Perera' }));
  await page.getByRole('listitem').filter({ hasText: earlier.rmaNumber }).first().waitFor();
  await page.getByRole('heading', { name: 'Same serial number' }).waitFor();
  await page.getByRole('button', { name: 'More' }).click();
  await expectFocus(page.getByRole('menuitem').first());
  await page.keyboard.press('End');
  await page.keyboard.press('Enter');
  const dialog = dialogOf(page, 'Correct details');
  await dialog.getByLabel('Customer').fill('Ada Pereira');
  await dialog.getByLabel('Serial number').fill('');
  await dialog.getByLabel('Email').fill('ada');
  await dialog.getByRole('button', { name: 'Save' }).click();
  await dialog.getByText('Must be an email address.').waitFor();
  await dialog.getByLabel('Email').fill('ada@example.com');
  await closeBy(dialog, 'Save');
  await page.getByText('Customer: Ada Pereira (was: Ada Perera)').waitFor();
  await page.getByText('Serial number: none (was: SN-1)').waitFor();
});

it('a move that changed nothing is shown as such', async ({ t }) => {
  const { id } = await newRepair(t);
  for (const move of ['begin-diagnostics', 'begin-repair', 'close', 'close'])
    expect(await t.post(`/offline-repairs/${id}/${move}`, {})).toHaveStatus(200);
  const page = await openAt(`/offline-repairs/${id}`, t, 'STAFF');
  const story = page.getByLabel('What happened, newest first');
  await story.getByText('created this return').waitFor();
  for (const words of [
    'set the same status again: In diagnostics',
    'changed status to',
    'closed it',
    'set the same status again: Closed',
  ])
    expect(await story.getByText(words).count(), words).toBe(1);
});

it('a repair shows a timeline of more than one page completely', async ({ t }) => {
  const repair = await newRepair(t);
  const start = Date.now() + 1000;
  const rows = Array.from({ length: 505 }, (_, i) => ({
    rma_id: repair.id,
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
  const page = await showRepair(t, repair);
  const story = page.getByLabel('What happened, newest first');
  for (const text of ['Note 505', 'Note 1', 'created this return'])
    await story.getByText(text, { exact: text.startsWith('Note') }).waitFor();
});

it('exact times of a repair are available by keyboard, mouse and touch', async ({ t }) => {
  const { id } = await newRepair(t);
  const page = await openAt(`/offline-repairs/${id}`, t, 'STAFF');
  const time = page.getByRole('time').first();
  const exact = page.getByRole('tooltip');
  const said = await time.evaluate((element) =>
    new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'long' }).format(
      new Date(element.getAttribute('datetime') ?? ''),
    ),
  );
  await page.getByRole('link', { name: 'Print slip' }).focus();
  await page.keyboard.press('Tab');
  await exact.waitFor();
  await expect.poll(() => exact.textContent()).toBe(said);
  await expectFocus(time);
  await expect.poll(() => saidAt(time)).toBe(said);
  await page.keyboard.press('Escape');
  await exact.waitFor({ state: 'detached' });
  await time.hover();
  await exact.waitFor();
  await page.mouse.move(0, 0);
  await exact.waitFor({ state: 'detached' });
});

it('a repair of another shop is not found', async ({ t }) => {
  const { client } = await t.addShop();
  const { body } = await t.post('/offline-repairs', repairBody(), { key: client.apiKey });
  const page = await openAt(`/offline-repairs/${body.id}`, t, 'ADMIN');
  await title(page, 'There is no such repair').waitFor();
  expect(await page.getByRole('alert').count()).toBe(0);
  expect(await page.getByText(body.rmaNumber).count()).toBe(0);
});

it('a trade return that a colleague has moved is explained, and shown in its current state', async ({
  t,
}) => {
  const { id, rmaNumber } = await newTradeReturn(t);
  const other = await newPerson(t, { role: 'ADMIN' });
  const page = await openAt(`/trade-returns/${id}`, t, 'STAFF');
  await title(page, rmaNumber).waitFor();
  expect(await other.post(`/trade-returns/${id}/reject`, { note: 'Too late' })).toHaveStatus(200);
  await page.getByRole('button', { name: 'Approve' }).click();
  const dialog = page.getByRole('dialog', { name: `Approve: ${rmaNumber}` });
  await dialog.getByText(`${other.email} changed status to Rejected`).waitFor();
  await dialog.getByText('so “Approve” is no longer possible').waitFor();
  expect(await dialog.getByRole('button', { name: 'Continue anyway' }).count()).toBe(0);
  await closeBy(dialog, 'Cancel');
  await page.getByText('This trade return is finished').waitFor();
  await page.getByLabel('What happened, newest first').getByText(other.email).waitFor();
});

const mainButton = (page: Page, name: string): Locator =>
  page.getByRole('group', { name: 'Actions' }).getByRole('button', { name, exact: true });
const toast = (page: Page, words: string): Locator => page.getByRole('alert').filter({ hasText: words });

it('a move without required fields happens immediately, and its toast offers a note or undo', async ({
  t,
  admin,
}) => {
  const repair = await newRepair(t);
  const waiting = { what: 'PART', until: null, note: 'Ordered' };
  await admin.put(`/offline-repairs/${repair.id}/waiting-for`, waiting);
  const page = await showRepair(t, repair);
  // The focus stays on the button, which is the next move now.
  await mainButton(page, 'Start repair').focus();
  await page.keyboard.press('Enter');
  await toast(page, 'repair started').waitFor();
  await expectFocus(mainButton(page, 'Resolve'));
  // Under the pointer it stays, however long the next step takes.
  await toast(page, 'repair started').hover();
  await expectAccessible(page);

  await toast(page, 'repair started').getByRole('button', { name: 'Undo' }).press('Enter');
  await toast(page, 'Moved back to In diagnostics. The timeline has both changes.').waitFor();
  await expectFocus(mainButton(page, 'Start repair'));
  const { body: undone } = await admin.get(`/offline-repairs/${repair.id}`);
  expect(undone).toMatchObject({ status: 'OFFLINE_DIAGNOSTICS', waitingFor: waiting });
  const story = page.getByLabel('What happened, newest first');
  await expect.poll(() => story.getByText('changed status to').count()).toBe(2);

  // The second click of a double click does not make the next move.
  await mainButton(page, 'Start repair').dblclick();
  await toast(page, 'repair started').getByRole('button', { name: 'Add note' }).click();
  await expectFocus(page.getByLabel('Add a note'));
  expect(await page.getByRole('dialog').count()).toBe(0);

  // A move to the present status can only be for the technician or a note, so it opens the dialog.
  await openMove(page, 'Start repair');
  await dialogOf(page, 'Start repair').getByLabel('Technician').waitFor();
});

it("undo restores a resolved repair with its outcome, but never overwrites a colleague's change", async ({
  t,
}) => {
  const ana = await newPerson(t, { role: 'STAFF', name: 'Ana Lopez' });
  const repair = await newRepair(t);
  await ana.post(`/offline-repairs/${repair.id}/resolve`, { offlineDisposition: 'WRITE_OFF' });
  const page = await showRepair(t, repair);
  await mainButton(page, 'Close').click();
  const undo = toast(page, 'closed').getByRole('button', { name: 'Undo' });
  await undo.click();
  await toast(page, 'Moved back to Resolved').waitFor();
  expect((await t.get(`/offline-repairs/${repair.id}`)).body.offlineDisposition).toBe('WRITE_OFF');

  await mainButton(page, 'Close').click();
  await undo.waitFor();
  await ana.post(`/offline-repairs/${repair.id}/begin-repair`, {});
  await undo.click();
  await toast(page, 'It has changed again since').waitFor();
  expect(await statusOf(t, repair)).toBe('OFFLINE_REPAIR');
});

it('an immediate move reports its failure, and a conflict asks for confirmation', async ({ t }) => {
  const ana = await newPerson(t, { role: 'STAFF', name: 'Ana Lopez' });
  const repair = await newRepair(t);
  const page = await showRepair(t, repair);
  await page.context().setOffline(true);
  await mainButton(page, 'Start repair').click();
  await toast(page, 'The service cannot be reached').waitFor();
  // The page reads the return when the connection is back; it has not seen what comes later.
  const isRead = page.waitForResponse((response) => response.url().endsWith(repair.id) && response.ok());
  await page.context().setOffline(false);
  await isRead;
  await ana.post(`/offline-repairs/${repair.id}/tracking`, { trackingNumber: 'JD01', carrierName: 'DHL' });
  await toast(page, 'The service cannot be reached').getByRole('button', { name: 'Try again' }).click();
  const dialog = dialogOf(page, 'Start repair');
  await dialog.getByText('Ana Lopez added tracking JD01').waitFor();
  await expectAccessibleDialog(page);
  expect(await statusOf(t, repair)).toBe('OFFLINE_DIAGNOSTICS');
  await closeBy(dialog, 'Continue anyway');
  await toast(page, 'repair started').waitFor();
});

it('a move that fails after the user has gone to another return says so', async ({ t }) => {
  const ana = await newPerson(t, { role: 'STAFF', name: 'Ana Lopez' });
  const [first, second] = [await newRepair(t), await newRepair(t)];
  const page = await openAt('/offline-repairs?sort=number&order=asc', t, 'STAFF');
  await page.getByRole('link', { name: first.rmaNumber }).click();
  await title(page, first.rmaNumber).waitFor();
  await ana.post(`/offline-repairs/${first.id}/close`, {});
  const walkedOn = Promise.withResolvers<void>();
  await page.route('**/begin-repair*', async (route) => {
    await walkedOn.promise;
    await route.continue();
  });
  await mainButton(page, 'Start repair').click();
  await page.keyboard.press('j');
  await title(page, second.rmaNumber).waitFor();
  walkedOn.resolve();
  const failure = toast(page, `${first.rmaNumber}: “Start repair” failed`);
  await failure.getByText('This has changed meanwhile.').waitFor();
});

it('the next move is possible immediately, while the page still reloads after the one before', async ({
  t,
}) => {
  const repair = await newRepair(t);
  const page = await showRepair(t, repair);
  const read = Promise.withResolvers<void>();
  await page.route(`**/offline-repairs/${repair.id}`, async (route) => {
    await read.promise;
    await route.continue();
  });
  const reads = page.waitForRequest((request) => request.url().endsWith(`/offline-repairs/${repair.id}`));
  await openMove(page, 'Start repair');
  await reads;
  await openMove(page, 'Resolve');
  await dialogOf(page, 'Resolve').getByRole('radio').first().waitFor();
  read.resolve();
});

it('the main button has the same position on every return of a list, wide and on a phone', async ({ t }) => {
  await t.ctx.db
    .insertInto('target_days')
    .values({ shop_id: t.shop.id, status: 'OFFLINE_DIAGNOSTICS', days: 2 })
    .execute();
  const customerName = 'Donaudampfschifffahrtsgesellschaftskapitän '.repeat(4).trim();
  const repairs = await newRepairs(t, {}, { customerName }, { faultDescription: 'It leaks. '.repeat(90) });
  await age(t, 'offline_repairs', repairs[1], 40 * 86_400_000);
  const page = await openAs(t, 'STAFF');
  for (const width of [1280, 390]) {
    await look(page, { width });
    await page.goto('/admin/offline-repairs?q=so-10042&sort=number&order=asc');
    await page.getByRole('link', { name: repairs[0].rmaNumber }).click();
    const boxes: unknown[] = [];
    for (const { rmaNumber } of repairs) {
      await title(page, rmaNumber).waitFor();
      await page.getByLabel('What happened, newest first').waitFor();
      boxes.push(await mainButton(page, 'Start repair').boundingBox());
      if (rmaNumber !== repairs[2].rmaNumber) await page.keyboard.press('j');
    }
    expect(new Set(boxes.map((box) => JSON.stringify(box))).size, `${width} px`).toBe(1);
    // It stays there while the page scrolls.
    await page.mouse.wheel(0, 250);
    const [before] = boxes as { x: number }[];
    const after = await mainButton(page, 'Start repair').boundingBox();
    expect(after?.x).toBe(before?.x);
    await expect.poll(() => mainButton(page, 'Start repair').and(page.locator(':visible')).count()).toBe(1);
  }
});

it('a return waits for a part until a date, and is resumed', async ({ t }) => {
  const repair = await newRepair(t);
  const page = await showRepair(t, repair);
  await openMove(page, 'Waiting for…');
  const dialog = page.getByRole('dialog', { name: `Waiting: ${repair.rmaNumber}` });
  await expectFocus(dialog.getByRole('radio', { name: 'A part' }));
  await dialog.getByRole('radio', { name: 'The supplier' }).check();
  await dialog.getByRole('button', { name: 'Tomorrow' }).click();
  await dialog.getByLabel('Note').fill('Ordered at Makita');
  await closeBy(dialog, 'Save');
  await page.getByText(/^Waiting for the supplier until .+ · Ordered at Makita$/).waitFor();
  await accessibleEverywhere(page);
  const { waitingFor } = (await t.get(`/offline-repairs/${repair.id}`)).body;
  const days = (Date.parse(waitingFor.until) - Date.now()) / 86_400_000;
  expect(Math.round(days)).toBeLessThanOrEqual(2);
  const story = page.getByLabel('What happened, newest first');
  await story.getByText(/marked it as waiting for the supplier until/).waitFor();
  await story.getByText('Ordered at Makita', { exact: true }).waitFor();

  await page.getByRole('button', { name: 'Change' }).click();
  await dialog.getByRole('button', { name: 'No date' }).click();
  await closeBy(dialog, 'Save');
  await page.getByText('Waiting for the supplier · Ordered at Makita').waitFor();
  await page.getByRole('button', { name: 'Clear' }).click();
  await page
    .getByText(/^Waiting for the supplier/)
    .first()
    .waitFor({ state: 'hidden' });
  await story.getByText('marked it as no longer waiting').waitFor();
});

it('a return cannot wait until a past or incomplete date', async ({ t }) => {
  const repair = await newRepair(t);
  const page = await showRepair(t, repair);
  await openMove(page, 'Waiting for…');
  const dialog = page.getByRole('dialog', { name: `Waiting: ${repair.rmaNumber}` });
  const day = dialog.getByLabel('Or pick a date');
  const save = dialog.getByRole('button', { name: 'Save' });
  for (const [typed, fault] of [
    // The value while the year 2026 is typed.
    ['0026-11-17', 'Pick today or a later day.'],
    ['2020-01-01', 'Pick today or a later day.'],
    ['2999-01-01', 'Pick a day within five years.'],
  ] as const) {
    await day.fill(typed);
    await save.click();
    await dialog.getByText(fault).waitFor();
    await expectFocus(day);
  }
  // The browser has no value for a day without a year.
  await day.fill('');
  await day.focus();
  await page.keyboard.type('1117');
  await save.click();
  await dialog.getByText('There is no such day.').waitFor();
  await expectFocus(day);
  await expectAccessibleDialog(page);
  await dialog.getByRole('button', { name: 'Tomorrow' }).click();
  expect(await dialog.getByText('Pick a day').count()).toBe(0);
  await closeBy(dialog, 'Save');
  await page.getByText(/^Waiting for a part until/).waitFor();

  await page.goto('/admin/scan-station');
  await page.getByRole('radio', { name: 'Waiting for…' }).check();
  await page.getByRole('radio', { name: 'The supplier' }).check();
  await page.getByLabel('Until').fill('0026-11-17');
  await enterCode(page, repair.rmaNumber);
  await page.getByText('Pick today or a later day.').waitFor();
  await page.getByText('0 done, 1 failed').waitFor();
  // A phone hides optional fields, but not this one.
  await look(page, { width: 390 });
  await page.getByText('Pick today or a later day.').waitFor();
  expect((await t.get(`/offline-repairs/${repair.id}`)).body.waitingFor.what).toBe('PART');
});

it('a return is assigned below its title, by keyboard only', async ({ t }) => {
  await newPerson(t, { role: 'STAFF', name: 'Grace Muller' });
  await newPerson(t, { role: 'STAFF', name: 'Grace Hopper' });
  const repair = await newRepair(t);
  const page = await showRepair(t, repair);
  const assigned = (person: string) =>
    page.getByRole('button', { name: `${person} (assign ${repair.rmaNumber})`, exact: true });
  const button = assigned('Unassigned');
  await button.focus();
  await page.keyboard.press('Enter');
  await expectFocus(page.getByLabel('Assign to').and(page.locator('input')));
  await expectAccessible(page);
  await page.keyboard.press('Escape');
  await expectFocus(button);
  await page.keyboard.press('Enter');
  await page.keyboard.type('hopp');
  await page.keyboard.press('Enter');
  await assigned('Grace Hopper').waitFor();
  await page.getByLabel('What happened, newest first').getByText('assigned it to Grace Hopper').waitFor();
});

it('a change that a user made in another tab is shown as their own', async ({ t }) => {
  const person = await newPerson(t, { role: 'STAFF', name: 'Ana Lopez' });
  const repair = await newRepair(t);
  const page = await openWindow(t, { cookie: person.cookie });
  await openRepair(page, repair);
  await openMove(page, WITH_NOTES);
  await person.post(`/offline-repairs/${repair.id}/tracking`, { trackingNumber: 'JD01', carrierName: 'DHL' });
  const dialog = dialogOf(page, 'Start repair');
  await dialog.getByRole('button', { name: 'Start repair' }).click();
  await dialog.getByText('You just changed this in another tab').waitFor();
  await dialog.getByText('Ana Lopez added tracking JD01').waitFor();
  expect(await dialog.getByText('Someone else').count()).toBe(0);
});

it('a refused credit leaves no amount behind after a reset', async ({ t, staff }) => {
  const { id, rmaNumber } = await newTradeReturn(t);
  await staff.post(`/trade-returns/${id}/approve`, {});
  const { items } = (await t.get(`/trade-returns/${id}`)).body;
  const lines = items.map(({ line, quantity }: { line: number; quantity: number }) => ({
    line,
    received: quantity,
  }));
  await staff.post(`/trade-returns/${id}/receive`, { lines, complete: true });
  const page = await openAt(`/trade-returns/${id}`, t, 'STAFF');
  await openMove(page, 'Request credit');
  const dialog = page.getByRole('dialog', { name: `Request credit: ${rmaNumber}` });
  const amount = dialog.getByLabel('Other amount');
  await amount.fill('999999');
  await dialog.getByLabel('Note').fill('All of it');
  await dialog.getByRole('button', { name: 'Request credit' }).click();
  await expect.poll(() => amount.getAttribute('aria-invalid')).toBe('true');
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'hidden' });
  await openMove(page, 'Request credit');
  await expectValue(amount, '999999');
  await dialog.getByRole('button', { name: 'Start over' }).click();
  await expectValue(amount, '');
  await expectValue(dialog.getByLabel('Note'), '');
});
