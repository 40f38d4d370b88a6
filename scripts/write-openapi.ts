import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { readDocuments } from './openapi-documents.ts';

// Writes the external API's document to the first file named and the admin API's to the second: for the linter, and for
// whoever wants them in a file.

const [, , externalFile = 'openapi.json', adminFile = 'admin-openapi.json'] = process.argv;
const { external, admin } = await readDocuments('https://returns.example.com');
const documents: [string, object][] = [
  [externalFile, external],
  [adminFile, admin],
];
for (const [file, document] of documents) {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, `${JSON.stringify(document, null, 2)}\n`);
}
