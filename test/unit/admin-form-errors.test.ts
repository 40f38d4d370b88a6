import { describe, expect, it } from 'vitest';
import { formErrors, serverErrors } from '../../admin/src/ui/forms/form-errors.ts';
import { CreateOfflineRepair, OfflineRepairActionBody } from '../../contract/offline-repair.ts';
import { CreateTradeReturn } from '../../contract/trade-return.ts';
import { repairBody } from '../support/bodies.ts';

describe('the errors of a form', () => {
  it('are empty for a valid body', () => {
    expect(formErrors(CreateOfflineRepair, repairBody())).toEqual({});
  });

  it('have the path of their input', () => {
    const errors = formErrors(CreateOfflineRepair, {
      ...repairBody(),
      customerName: ' ',
      customerEmail: '',
      faultyItem: { ...repairBody().faultyItem, quantity: 0, price: undefined, sku: 'x'.repeat(129) },
      tracking: { trackingNumber: 'T', carrierName: '' },
    });
    expect(errors).toEqual({
      customerName: 'Required',
      customerEmail: 'Required',
      'faultyItem.quantity': 'Must be more than 0.',
      'faultyItem.price': 'Required',
      'faultyItem.sku': 'Must be at most 128 characters long.',
      'tracking.carrierName': 'Required',
    });
  });

  it('mention choices, lists and typos', () => {
    expect(formErrors(OfflineRepairActionBody.resolve, { offlineDisposition: '' })).toEqual({
      offlineDisposition: 'Choose one.',
    });
    expect(formErrors(CreateTradeReturn, { items: [] })['items']).toBe('Add at least 1.');
    expect(formErrors(CreateOfflineRepair, { ...repairBody(), customerEmail: 'ada@gmail' })).toEqual({
      customerEmail: 'Must be an email address.',
    });
  });

  it("repeat the service's errors without the name of the field", () => {
    const byField = { 'faultyItem.sku': 'faultyItem.sku must not be empty', other: 'Something else' };
    expect(serverErrors({ byField })).toEqual({
      'faultyItem.sku': 'Must not be empty.',
      other: 'Something else.',
    });
  });
});
