import { describe, expect, it } from 'vitest';
import { repairBody } from '../support/bodies.ts';
import { harness } from '../support/harness.ts';

const ISO = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
const UUID7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

describe('creating an offline repair', () => {
  it('answers 201 with every field, null where empty', async () => {
    const t = await harness();
    const { status, body } = await t.post('/offline-repairs', repairBody());
    expect(status).toBe(201);
    expect(body).toEqual({
      id: expect.stringMatching(UUID7),
      rmaNumber: '#RMA-000001',
      status: 'OFFLINE_DIAGNOSTICS',
      externalRef: null,
      externalSource: null,
      orderNumber: 'SO-10042',
      customerEmail: 'ada@example.com',
      customerName: 'Ada Pereira',
      faultDescription: 'Does not heat up any more',
      offlineDisposition: null,
      isDangerous: false,
      trackingNumber: null,
      storeId: 'store-7',
      customerPhone: null,
      faultyItem: {
        sku: 'KETTLE-17',
        productName: 'Kettle 1.7 l',
        quantity: 1,
        price: 49.95,
        serialNumber: null,
        variantTitle: null,
        weight: null,
      },
      replacementSku: null,
      notes: null,
      carrierName: null,
      assignedToId: null,
      repairNotes: null,
      createdAt: expect.stringMatching(ISO),
      statusSince: expect.stringMatching(ISO),
      updatedAt: expect.stringMatching(ISO),
    });
  });
});
