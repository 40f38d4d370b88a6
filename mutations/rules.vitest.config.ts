import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/unit/{signature,secrets,policy,attempt,address-guard,lifecycle}.test.ts'],
    isolate: false,
  },
});
