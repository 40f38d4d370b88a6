import { run } from './run.ts';

// When the reader has gone (`handback doctor | head -1`), the command still does its work and keeps its status.
if (process.argv[2] !== 'serve')
  for (const stream of [process.stdout, process.stderr])
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EPIPE') throw error;
    });

// The program itself: what bin/handback.js runs in a checkout, and what is built into dist/service.
await run(process.argv);
