import { Buffer } from 'node:buffer';
import { expect, it } from 'vitest';
import { newPerson } from '../support/admin.ts';
import { expectError, rulesOf } from '../support/api.ts';
import { harness } from '../support/harness.ts';

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
const dataUrl = (type: string, head: number[], size = 64): string => {
  const bytes = Buffer.alloc(size);
  bytes.set(head);
  return `data:image/${type};base64,${bytes.toString('base64')}`;
};
const PNG = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a];
const JPEG = [0xff, 0xd8, 0xff, 0xe0];
const WEBP = [...Buffer.from('RIFF'), 0, 0, 0, 0, ...Buffer.from('WEBP')];

it('an Admin sets what slips show; staff read it, and other shops keep their own', async () => {
  const t = await harness();
  const [admin, staff] = [await newPerson(t), await newPerson(t, { role: 'STAFF' })];
  const stranger = await newPerson(t, { shop: (await t.addShop()).shop });
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
    logo: dataUrl('png', PNG, 200_000),
  };
  const put = await admin.put('/shop-settings', settings);
  expect([put.status, put.body]).toEqual([200, { shopName, ...settings }]);
  expect((await staff.get('/shop-settings')).body).toEqual(put.body);
  expect((await stranger.get('/shop-settings')).body).toMatchObject(EMPTY);
  expectError(await staff.put('/shop-settings', {}), 403, 'ADMIN_REQUIRED');

  // Audited, without the picture; a change of nothing is no change.
  await admin.put('/shop-settings', settings);
  await admin.put('/shop-settings', { ...settings, logo: dataUrl('webp', WEBP), phone: null });
  await admin.put('/shop-settings', {});
  const { items } = (await admin.get('/audit-log')).body;
  const changes = items.filter(({ action }: { action: string }) => action === 'SHOP_SETTINGS_CHANGED');
  expect(changes.map(({ data }: { data: object }) => data)).toMatchObject([
    { name: { from: settings.name, to: null }, logo: 'removed' },
    { phone: { from: settings.phone, to: null }, logo: 'replaced' },
    { address: { from: null, to: '12 Harbour Road, 3207 Port Melbourne' }, logo: 'replaced' },
  ]);
  expect(JSON.stringify(items)).not.toContain('base64');
  expect((await staff.get('/shop-settings')).body).toEqual({ shopName, ...EMPTY });
});

it('refuses what is no currency, time zone or picture, and changes nothing', async () => {
  const t = await harness();
  const admin = await newPerson(t);
  const rules = async (body: object) => rulesOf(await admin.put('/shop-settings', body));
  expect(
    Object.keys(
      await rules({
        currency: 'EURO',
        timeZone: '+02:00',
        email: 'kettle',
        address: ['a', ''],
        logo: 'data:image/svg+xml;base64,PHN2Zz48L3N2Zz4=',
      }),
    ).sort(),
  ).toEqual(['address.1', 'currency', 'email', 'logo', 'timeZone']);
  expect(await rules({ currency: 'eur' })).toHaveProperty('currency');
  expect(await rules({ timeZone: 'Europe/Atlantis' })).toHaveProperty('timeZone');
  for (const logo of [
    dataUrl('png', JPEG),
    dataUrl('jpeg', PNG),
    dataUrl('webp', PNG),
    dataUrl('gif', PNG),
    dataUrl('png', [...Buffer.from('<svg xmlns=')]),
    dataUrl('png', PNG, 200_001),
    'data:image/png;base64,iVBOR',
    'https://example.com/logo.png',
  ])
    expect(await rules({ logo })).toHaveProperty('logo');
  expect((await admin.put('/shop-settings', { logo: dataUrl('jpeg', JPEG) })).status).toBe(200);
  const huge = await admin.put('/shop-settings', { logo: dataUrl('png', PNG, 300_000) });
  expectError(huge, 413);
  expect(huge.body.message).toBe('The body is larger than 384 KiB.');
  expect((await admin.get('/shop-settings')).body.logo).toBe(dataUrl('jpeg', JPEG));
});
