import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pino } from 'pino';
import { buildApp } from '../src/api/app.ts';
import { readConfig } from '../src/config.ts';
import { openContext } from '../src/context.ts';

// Writes the external API's document to the first file named and the admin API's to the second: for the linter, and for
// whoever wants them in a file.

const [, , externalFile = 'openapi.json', adminFile = 'admin-openapi.json'] = process.argv;
const dataDir = mkdtempSync(join(tmpdir(), 'handback-openapi-'));
const ctx = await openContext(readConfig({ DATA_DIR: dataDir, PUBLIC_URL: 'https://returns.example.com' }), {
  log: pino({ level: 'silent' }),
});
const app = await buildApp(ctx);
await app.ready();
const documents: [string, object][] = [
  [externalFile, app.swagger()],
  [adminFile, app.adminSwagger()],
];
for (const [file, document] of documents) {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, `${JSON.stringify(document, null, 2)}\n`);
}
await app.close();
await ctx.close();
rmSync(dataDir, { recursive: true });
