import { Buffer } from 'node:buffer';
import { expect } from 'vitest';
import { OFFLINE_REPAIR_STATUSES } from '../../contract/lifecycle.ts';
import { rulesOf, stopClock } from '../support/api.ts';
import { itWith } from '../support/fixtures.ts';
import { harness } from '../support/harness.ts';
import { dataUrl, jpeg, png, webp } from '../support/pictures.ts';
import { auditLog, pluck } from '../support/responses.ts';

const it = itWith(harness);

const EMPTY = {
  name: null,
  address: [],
  phone: null,
  email: null,
  currency: null,
  timeZone: null,
  slipText: null,
  logo: null,
};

it('an Admin sets what the slips of the shop show', async ({ t, admin, staff, stranger }) => {
  const shopName = t.shop.name;
  expect((await staff.get('/shop-settings')).body).toEqual({ shopName, ...EMPTY });
  const settings = {
    name: 'Kettle & Sons 🫖',
    address: ['12 Harbour Road', '3207 Port Melbourne'],
    phone: '+61 3 9000 0000',
    email: 'hello@kettle.example',
    currency: 'AUD',
    timeZone: 'Australia/Melbourne',
    slipText: 'Open Monday to Friday.\nKeep this slip.',
    logo: dataUrl('png', png({ bytes: 200_000 })),
  };
  const put = await admin.put('/shop-settings', settings);
  expect(put).toHaveStatus(200);
  expect(put.body).toEqual({ shopName, ...settings });
  expect((await staff.get('/shop-settings')).body).toEqual(put.body);
  expect((await stranger.get('/shop-settings')).body).toMatchObject(EMPTY);

  // The audit log has it without the picture; without a change there is no entry.
  await admin.put('/shop-settings', settings);
  await admin.put('/shop-settings', { ...settings, logo: dataUrl('webp', webp()), phone: null });
  await admin.put('/shop-settings', {});
  const changes = await auditLog(admin, 'SHOP_SETTINGS_CHANGED');
  expect(pluck(changes, 'data')).toMatchObject([
    { name: { from: settings.name, to: null }, logo: 'removed' },
    { phone: { from: settings.phone, to: null }, logo: 'replaced' },
    { address: { from: null, to: '12 Harbour Road, 3207 Port Melbourne' }, logo: 'replaced' },
  ]);
  expect(JSON.stringify(changes)).not.toContain('base64');
  expect((await staff.get('/shop-settings')).body).toEqual({ shopName, ...EMPTY });
});

it('rejects an invalid currency, time zone or picture, and changes nothing', async ({ admin }) => {
  const rules = async (body: object) => rulesOf(await admin.put('/shop-settings', body));
  const svg = 'data:image/svg+xml;base64,PHN2Zz48L3N2Zz4=';
  const wrong = { currency: 'EURO', timeZone: '+02:00', email: 'kettle', address: ['a', ''], logo: svg };
  const fields = ['address.1', 'currency', 'email', 'logo', 'timeZone'];
  expect(Object.keys(await rules(wrong)).sort()).toEqual(fields);
  expect(await rules({ currency: 'eur' })).toHaveProperty('currency');
  expect(await rules({ timeZone: 'Europe/Atlantis' })).toHaveProperty('timeZone');
  for (const logo of [
    dataUrl('png', jpeg()),
    dataUrl('jpeg', png()),
    dataUrl('webp', png()),
    dataUrl('gif', png()),
    dataUrl('png', Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"></svg>')),
    dataUrl('png', png({ bytes: 200_001 })),
    'data:image/png;base64,iVBOR',
    'https://example.com/logo.png',
  ])
    expect(await rules({ logo })).toHaveProperty('logo');
  expect(await admin.put('/shop-settings', { logo: dataUrl('jpeg', jpeg()) })).toHaveStatus(200);
  const huge = await admin.put('/shop-settings', { logo: dataUrl('png', png({ bytes: 300_000 })) });
  expect(huge).toFailWith(413);
  expect(huge.body.message).toBe('The body is larger than 384 KiB.');
  expect((await admin.get('/shop-settings')).body.logo).toBe(dataUrl('jpeg', jpeg()));
});

it('rejects pictures that end before their size, and unreasonably large ones', async ({ admin }) => {
  const MAKERS = { png, jpeg, webp };
  for (const [type, make] of Object.entries(MAKERS)) {
    const put = (bytes: Buffer) => admin.put('/shop-settings', { logo: dataUrl(type, bytes) });
    const whole = make({ width: 640, height: 200 });
    expect(await put(whole)).toHaveStatus(200);
    const messageFor = async (bytes: Buffer) => (await put(bytes)).body.message;
    for (const length of [4, 12, 16])
      expect(await messageFor(whole.subarray(0, length))).toEqual([
        `logo must be a picture of the type image/${type}`,
      ]);
    for (const size of [{ width: 0 }, { height: 0 }, { width: 5001 }, { height: 5001 }])
      expect(await messageFor(make(size))).toEqual(['logo must be 1 to 5000 pixels wide and high']);
    expect((await admin.get('/shop-settings')).body.logo).toBe(dataUrl(type, whole));
  }
});

it('a shop can change its API clients 120 times a minute; other shops continue', async ({
  t,
  admin,
  stranger,
}) => {
  const clock = stopClock();
  const rename = (i: number) => admin.patch(`/clients/${t.client.id}`, { name: `Till ${i}` });
  for (let i = 0; i < 120; i += 1) expect(await rename(i)).toHaveStatus(200);
  expect(await rename(120)).toFailWith(429, 'RATE_LIMITED');
  expect(await admin.post(`/clients/${t.client.id}/replace`, {})).toFailWith(429, 'RATE_LIMITED');
  expect(await stranger.post('/clients', { name: 'Theirs' })).toHaveStatus(201);
  clock.advance(60_000);
  expect(await rename(121)).toHaveStatus(200);
});

it('a shop can change its settings ten times a minute in total; other shops continue', async ({
  admin,
  stranger,
}) => {
  const clock = stopClock();
  const changes = [
    (i: number) => admin.put('/dangerous-goods', { rules: [`A-${i}`] }),
    (i: number) => admin.put('/shop-settings', { phone: String(i) }),
    (i: number) =>
      admin.put('/target-days', { targets: [{ status: OFFLINE_REPAIR_STATUSES[0], days: i + 1 }] }),
    () => admin.put('/sign-in-rules', { secondFactorRequired: false }),
    (i: number) => admin.put('/forgetting', { offlineRepairMonths: 12 + i, tradeReturnMonths: null }),
  ];
  const change = (i: number) => (changes[i % changes.length] as (typeof changes)[number])(i);
  for (let i = 0; i < 10; i += 1) expect(await change(i)).toHaveStatus(200);
  for (let i = 0; i < 5; i += 1) expect(await change(i)).toFailWith(429, 'RATE_LIMITED');
  expect((await admin.get('/shop-settings')).body.phone).toBe('6');
  expect(await stranger.put('/shop-settings', { phone: '1' })).toHaveStatus(200);
  clock.advance(60_000);
  expect(await change(1)).toHaveStatus(200);
});
