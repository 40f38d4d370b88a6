import { test } from 'vitest';
import { createClient } from '../../src/api-clients/actions.ts';
import { OPERATOR } from '../../src/audit/store.ts';
import { newPerson } from './admin.ts';
import type { Harness } from './harness.ts';
import { webhookHarness } from './webhooks.ts';

/**
 * `it` for tests that need a harness: `t`, and people of its shop who are signed in. Each is created when a test names it, in
 * this order.
 */
export const itWith = <T extends Harness>(open: () => Promise<T>) =>
  test
    .extend('t', () => open())
    /** With a dispatcher that runs; instead of `t`. */
    .extend('sending', () => webhookHarness())
    /** Another client of the shop, without a webhook URL. */
    .extend('erp', ({ t }) =>
      createClient(t.ctx, OPERATOR, { shopId: t.shop.id, name: 'ERP', webhookUrl: null }),
    )
    .extend('admin', ({ t }) => newPerson(t))
    .extend('staff', ({ t }) => newPerson(t, { role: 'STAFF' }))
    /** For what is the same for both roles. */
    .extend('person', ({ t }) => newPerson(t))
    .extend('stranger', async ({ t }) => newPerson(t, { shop: (await t.addShop()).shop }));
