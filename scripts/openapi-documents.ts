import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { buildApp } from '../src/api/app.ts';
import { openContext } from '../src/app/context.ts';
import { readConfig } from '../src/platform/config.ts';

/** The documents of both APIs, as the service serves them. */
export const readDocuments = async (publicUrl: string): Promise<{ external: object; admin: object }> => {
  const dataDir = mkdtempSync(join(tmpdir(), 'handback-openapi-'));
  const ctx = await openContext(readConfig({ DATA_DIR: dataDir, PUBLIC_URL: publicUrl }), {
    log: pino({ level: 'silent' }),
  });
  const app = await buildApp(ctx);
  await app.ready();
  const documents = { external: app.swagger(), admin: app.adminSwagger() };
  await app.close();
  await ctx.close();
  rmSync(dataDir, { recursive: true });
  return documents;
};
