import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pino } from 'pino';
import { buildApp } from '../src/app.ts';
import { readConfig } from '../src/config.ts';
import { openContext } from '../src/context.ts';

// Writes the document the service would serve to the file named, for the linter and for whoever wants it in a file.

const file = process.argv[2] ?? 'openapi.json';
const dataDir = mkdtempSync(join(tmpdir(), 'handback-openapi-'));
const ctx = await openContext(readConfig({ DATA_DIR: dataDir, PUBLIC_URL: 'https://returns.example.com' }), {
  log: pino({ level: 'silent' }),
});
const app = await buildApp(ctx);
await app.ready();
mkdirSync(dirname(file), { recursive: true });
writeFileSync(file, `${JSON.stringify(app.swagger(), null, 2)}\n`);
await app.close();
await ctx.close();
rmSync(dataDir, { recursive: true });
