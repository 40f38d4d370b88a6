import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: [
      'test/unit/recipient.test.ts',
      'test/api/{keys,events}.test.ts',
      'test/webhooks/recipients.test.ts',
    ],
    env: { ENGINE: 'sqlite' },
    globalSetup: ['test/support/sqlite-setup.ts'],
    testTimeout: 60_000,
    isolate: false,
  },
});
