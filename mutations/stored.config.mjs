import { optionsFor } from './options.mjs';

// What works on the database: its tests talk to the service over HTTP, on SQLite.
export default optionsFor('stored', [
  // keys
  'src/api-clients/authenticate.ts',
  // recipients
  'src/webhooks/outbox.ts',
  // allowances
  'src/shops/counters.ts',
  // the feed
  'src/events/feed.ts',
]);
