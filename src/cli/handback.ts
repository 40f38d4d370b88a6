import { runCli } from './run.ts';

// If the reader goes away (`handback doctor | head -1`), the command still finishes its work and keeps its exit status.
if (process.argv[2] !== 'serve')
  for (const stream of [process.stdout, process.stderr])
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EPIPE') throw error;
    });

// This is the entry point: bin/handback.js runs it in a checkout, and dist/service is built from it.
await runCli(process.argv);
