import { describe, expect, it } from 'vitest';
import { ISO, newRepair, newStaffRepair, rowCounts, stopClock, UUID7 } from '../support/api.ts';
import { repairBody } from '../support/bodies.ts';
import { sharedHarness } from '../support/harness.ts';

const harness = sharedHarness();

const everything = () =>
  repairBody({
    customerPhone: '+44 20 7946 0018',
    faultyItem: {
      sku: 'KETTLE-17',
      productName: 'Kettle 1.7 l',
      quantity: 2.5,
      price: 49.95,
      serialNumber: 'SN-448120',
      variantTitle: 'Brushed steel',
      weight: 1.2345,
    },
    externalRef: 'POS-88213',
    externalSource: 'till-4',
    startStatus: 'COUNTER_SWAPPED',
    replacementSku: 'KETTLE-18',
    notes: 'Customer waits',
    tracking: { trackingNumber: 'JD0146000034', carrierName: 'DHL' },
  });

describe('creating an offline repair', () => {
  it('echoes every field it was given, at once and later', async () => {
    const t = await harness();
    const { startStatus, tracking, ...echoed } = everything() as Record<string, unknown>;
    const created = await t.post('/offline-repairs', everything());
    expect(created.status).toBe(201);
    expect(created.body).toEqual({
      ...echoed,
      ...(tracking as object),
      status: startStatus,
      id: expect.stringMatching(UUID7),
      rmaNumber: '#RMA-000001',
      offlineDisposition: null,
      isDangerous: false,
      assignedToId: null,
      repairNotes: null,
      createdAt: expect.stringMatching(ISO),
      statusSince: expect.stringMatching(ISO),
      updatedAt: expect.stringMatching(ISO),
    });
    const read = await t.get(`/offline-repairs/${created.body.id}`);
    expect(read.status).toBe(200);
    expect(read.body).toEqual(created.body);
    expect((await t.get('/offline-repairs')).body.items).toEqual([created.body]);
  });

  it('answers in JSON and UTF-8', async () => {
    const t = await harness();
    const customerName = 'Zoë Ærø 日本 🙂 \u202e';
    const created = await t.post('/offline-repairs', repairBody({ customerName }));
    expect(created.headers.get('content-type')).toBe('application/json; charset=utf-8');
    expect((await t.get(`/offline-repairs/${created.body.id}`)).body.customerName).toBe(customerName);
  });

  it.each([
    [undefined, 'OFFLINE_DIAGNOSTICS'],
    [null, 'OFFLINE_DIAGNOSTICS'],
    ['OFFLINE_DIAGNOSTICS', 'OFFLINE_DIAGNOSTICS'],
    ['COUNTER_SWAPPED', 'COUNTER_SWAPPED'],
  ])('with startStatus %s begins in %s', async (startStatus, status) => {
    const t = await harness();
    const { id, ...repair } = await newRepair(t, { startStatus });
    expect(repair.status).toBe(status);
    expect((await t.get(`/offline-repairs/${id}`)).body.status).toBe(status);
  });

  it('takes null as absent in every optional field', async () => {
    const t = await harness();
    const nothing = {
      customerPhone: null,
      externalRef: null,
      externalSource: null,
      startStatus: null,
      replacementSku: null,
      notes: null,
      tracking: null,
    };
    const faultyItem = { ...repairBody().faultyItem, serialNumber: null, variantTitle: null, weight: null };
    const without = await newRepair(t);
    const withNulls = await newRepair(t, { ...nothing, faultyItem });
    const own = {
      id: withNulls.id,
      rmaNumber: withNulls.rmaNumber,
      createdAt: withNulls.createdAt,
      statusSince: withNulls.statusSince,
      updatedAt: withNulls.updatedAt,
    };
    expect(withNulls).toEqual({ ...without, ...own });
  });

  it('is timed by the clock, in UTC with milliseconds, and so is its id', async () => {
    const t = await harness();
    const at = Date.UTC(2026, 10, 15, 9, 30, 0, 7);
    stopClock(at);
    const { id, createdAt, updatedAt } = await newRepair(t);
    expect([createdAt, updatedAt]).toEqual(['2026-11-15T09:30:00.007Z', '2026-11-15T09:30:00.007Z']);
    expect(Number.parseInt(id.replace('-', '').slice(0, 12), 16)).toBe(at);
  });

  it('opens the timeline with one entry, which holds the tracking and the notes given', async () => {
    const t = await harness();
    const repair = await newRepair(t, everything());
    expect((await t.get(`/offline-repairs/${repair.id}/timeline`)).body).toEqual({
      items: [
        {
          id: expect.stringMatching(UUID7),
          type: 'CREATED',
          at: repair.createdAt,
          actor: { type: 'API_CLIENT', id: t.client.id, name: 'Till' },
          fromStatus: null,
          toStatus: 'COUNTER_SWAPPED',
          note: 'Customer waits',
          data: { trackingNumber: 'JD0146000034', carrierName: 'DHL' },
        },
      ],
      total: 1,
      page: 1,
      limit: 500,
      totalPages: 1,
    });
    const plain = await newRepair(t);
    const { items } = (await t.get(`/offline-repairs/${plain.id}/timeline`)).body;
    expect(items).toMatchObject([{ type: 'CREATED', toStatus: 'OFFLINE_DIAGNOSTICS', note: null, data: {} }]);
  });

  it('may be done twice with the same content: two repairs', async () => {
    const t = await harness();
    const one = await newRepair(t, { externalRef: 'POS-1' });
    const two = await newRepair(t, { externalRef: 'POS-1' });
    expect(two.id).not.toBe(one.id);
    expect((await rowCounts(t)).repairs).toBe(2);
  });
});

describe('the RMA number', () => {
  it("runs through each shop's own repairs, staff-created ones included", async () => {
    const t = await harness();
    const other = await t.addShop();
    const own = [(await newRepair(t)).rmaNumber];
    const theirs = [(await newRepair(t, {}, { key: other.client.apiKey })).rmaNumber];
    own.push((await newStaffRepair(t)).rmaNumber, (await newRepair(t)).rmaNumber);
    expect(own).toEqual(['#RMA-000001', '#RMA-000002', '#RMA-000003']);
    expect(theirs).toEqual(['#RMA-000001']);
  });

  it('has at least six digits, and more once they are needed', async () => {
    const t = await harness();
    const startAfter = (last_number: number) =>
      t.ctx.db.updateTable('shop_counters').set({ last_number }).where('shop_id', '=', t.shop.id).execute();
    await startAfter(122);
    expect((await newRepair(t)).rmaNumber).toBe('#RMA-000123');
    await startAfter(999_998);
    expect((await newRepair(t)).rmaNumber).toBe('#RMA-999999');
    expect((await newRepair(t)).rmaNumber).toBe('#RMA-1000000');
    const { items } = (await t.get('/offline-repairs')).body;
    expect(items.map(({ rmaNumber }: { rmaNumber: string }) => rmaNumber)).toEqual([
      '#RMA-1000000',
      '#RMA-999999',
      '#RMA-000123',
    ]);
  });
});
