import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/api/{keys,events,allowance}.test.ts', 'test/webhooks/{recipients,queue}.test.ts'],
    env: { ENGINE: 'sqlite' },
    globalSetup: ['test/support/sqlite-setup.ts'],
    testTimeout: 60_000,
    isolate: false,
  },
});
