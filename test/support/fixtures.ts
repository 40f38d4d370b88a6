import { test } from 'vitest';
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
    .extend('admin', ({ t }) => newPerson(t))
    .extend('staff', ({ t }) => newPerson(t, { role: 'STAFF' }))
    /** For what is the same for both roles. */
    .extend('person', ({ t }) => newPerson(t))
    .extend('stranger', async ({ t }) => newPerson(t, { shop: (await t.addShop()).shop }));
