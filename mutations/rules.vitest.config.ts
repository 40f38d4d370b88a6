import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: [
      'test/unit/{signature,secrets,policy,attempt,api-key,address-guard,allowance,lifecycle,cursor}.test.ts',
    ],
    isolate: false,
  },
});
