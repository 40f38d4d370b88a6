import { optionsFor } from './options.mjs';

// Rules that need no database: their tests take milliseconds.
export default optionsFor('rules', [
  // signing: the first lines of its file
  'src/webhooks/worker/send.ts:8-26',
  'src/platform/secrets.ts',
  // retries
  'src/webhooks/policy.ts',
  'src/webhooks/worker/attempt.ts',
  // the address guard
  'src/webhooks/address-guard.ts',
  // moves
  'contract/lifecycle.ts',
]);
