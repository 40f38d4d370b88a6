import { spawn } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';

// npx node scripts/specmatic.ts URL KEY: Specmatic's generative tests against a service that runs there with TRUST_PROXY=1, by the
// document in dist/openapi.json. They come from thousands of addresses, or the limits would answer most of them.

const [url = 'http://127.0.0.1:3000', key = ''] = process.argv.slice(2);
const BASE_PATH = '/api/v1/external/v1';
/** It leaves its reports where it runs. */
const FOLDER = 'dist/specmatic';
const DOCUMENT = 'openapi.json';
const KEPT_FILTERS = ['page', 'limit'];

interface Operation {
  parameters?: { name: string; required?: boolean }[];
  security?: unknown;
}

/** The document without what Specmatic makes wrong values for (ADR 0027), and without the product of all optional filters. */
const simplerDocument = () => {
  const document = JSON.parse(readFileSync('dist/openapi.json', 'utf8'), (_name, value) => {
    if (value?.type === 'number') return { ...value, type: 'integer' };
    if (value?.type !== 'string') return value;
    const { pattern: _pattern, ...rest } = value;
    return rest;
  });
  for (const operations of Object.values<Record<string, Operation>>(document.paths))
    for (const operation of Object.values(operations)) {
      operation.parameters = (operation.parameters ?? []).filter(
        ({ name, required }) => required || KEPT_FILTERS.includes(name),
      );
      delete operation.security;
    }
  const { apiKey } = document.components.securitySchemes;
  document.components.securitySchemes = { apiKey };
  document.security = [{ apiKey: [] }];
  delete document.webhooks;
  return document;
};

let requests = 0;
/** Each request with the key, from an address of its own. */
const proxy = createServer((incoming, outgoing) => {
  requests += 1;
  const address = `10.${(requests >> 16) & 255}.${(requests >> 8) & 255}.${requests & 255}`;
  const headers = { ...incoming.headers, 'x-forwarded-for': address, 'x-api-key': key };
  const onward = request(
    new URL(incoming.url ?? '/', url),
    { method: incoming.method ?? 'GET', headers },
    (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(outgoing);
    },
  );
  onward.on('error', () => outgoing.destroy());
  incoming.pipe(onward);
});

mkdirSync(FOLDER, { recursive: true });
writeFileSync(`${FOLDER}/${DOCUMENT}`, JSON.stringify(simplerDocument()));
await new Promise<void>((listening) => proxy.listen(0, '127.0.0.1', listening));
const base = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}${BASE_PATH}`;
const child = spawn(
  'npx',
  ['--yes', 'specmatic@2.55.1', 'test', DOCUMENT, `--testBaseURL=${base}`, '--timeout=30'],
  {
    cwd: FOLDER,
    env: { ...process.env, SPECMATIC_GENERATIVE_TESTS: 'true', MAX_TEST_REQUEST_COMBINATIONS: '1' },
    stdio: 'inherit',
    shell: process.platform === 'win32',
  },
);
child.once('close', (status) => {
  proxy.close();
  process.exitCode = status ?? 1;
});
