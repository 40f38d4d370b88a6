import { run } from './run.ts';

// The program itself: what bin/handback.js runs in a checkout, and what is built into dist/service.
await run(process.argv);
