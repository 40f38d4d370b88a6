import { optionsFor } from './options.mjs';

// What works on the database: its tests talk to the service over HTTP, on SQLite.
export default optionsFor('stored', [
  // retries
  'src/webhooks/worker/attempt.ts',
  // keys
  'src/api-clients/authenticate.ts',
  // recipients
  'src/webhooks/recipient.ts',
  // the feed
  'src/events/feed.ts',
]);
