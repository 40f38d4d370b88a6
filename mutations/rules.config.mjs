import { optionsFor } from './options.mjs';

// Rules that need no database: their tests take milliseconds.
export default optionsFor('rules', [
  // signing
  'src/webhooks/worker/send.ts',
  'src/secrets.ts',
  // retries
  'src/webhooks/policy.ts',
  'src/webhooks/worker/attempt.ts',
  // keys
  'src/api-clients/api-key.ts',
  // the address guard
  'src/webhooks/address-guard.ts',
  'src/webhooks/webhook-url.ts',
  // allowances
  'src/shops/allowance.ts',
  // moves
  'contract/lifecycle.ts',
  // the feed
  'src/events/cursor.ts',
]);
