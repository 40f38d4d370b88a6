import { optionsFor } from './options.mjs';

// Rules that need no database: their tests take milliseconds.
export default optionsFor('rules', [
  // signing: the first lines of its file
  'src/webhooks/worker/send.ts:8-26',
  'src/service/secrets.ts',
  // retries
  'src/webhooks/policy.ts',
  'src/webhooks/worker/attempt.ts',
  // keys
  'src/api-clients/api-key.ts',
  // the address guard
  'src/webhooks/address-guard.ts',
  // allowances
  'src/shops/allowance.ts',
  // moves
  'contract/lifecycle.ts',
  // the feed
  'src/events/cursor.ts',
]);
