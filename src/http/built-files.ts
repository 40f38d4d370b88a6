import { hash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, sep } from 'node:path';
import { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { FastifyInstance } from 'fastify';
import { ServiceError } from '../service/errors.ts';

// Serves what `npm run build` wrote, from one copy in memory (10 MB) that all readers share. 300 readers who stop reading cost
// 28 MB; with @fastify/static, which reads the file for each, 166 MB that are never freed.

export interface BuiltFiles {
  /** Their path on the server, and their folder in dist. */
  name: string;
  title: string;
  policyFor(file: string): string[];
  /** Which file to serve for a path; null for a 404. */
  fileFor(path: string): string | null;
}

interface BuiltFile {
  type: string;
  etag: string;
  cacheControl: string;
  /** By content encoding, the best first. */
  encodings: Map<string, Buffer>;
}

const TYPES: Record<string, string> = {
  html: 'text/html; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml',
  json: 'application/json; charset=utf-8',
};
const ENDINGS = { br: '.br', gzip: '.gz', identity: '' };

const folders = new Map<string, Map<string, BuiltFile>>();

/** Once per process, even when tests build many apps. */
const readFolder = (root: string): Map<string, BuiltFile> => {
  const known = folders.get(root);
  if (known) return known;
  const files = new Map<string, BuiltFile>();
  folders.set(root, files);
  for (const found of readdirSync(root, { recursive: true, encoding: 'utf8' })) {
    const type = TYPES[found.split('.').at(-1) ?? ''];
    if (!type) continue;
    const encodings = Object.entries(ENDINGS)
      .filter(([, ending]) => existsSync(join(root, `${found}${ending}`)))
      .map(([encoding, ending]) => [encoding, readFileSync(join(root, `${found}${ending}`))] as const);
    const name = found.split(sep).join('/');
    const digest = hash('sha256', readFileSync(join(root, found)), 'base64url');
    files.set(name, {
      type,
      etag: `W/"${digest.slice(0, 20)}"`,
      // Built assets carry a hash of their content in their name.
      cacheControl: name.startsWith('assets/') ? 'public, max-age=31536000, immutable' : 'no-cache',
      encodings: new Map(encodings),
    });
  }
  return files;
};

/** The encodings that a caller accepts: those without `q=0`. */
const acceptedBy = (header: string | undefined): Set<string> =>
  new Set(
    (header ?? '')
      .toLowerCase()
      .split(',')
      .map((each) => each.trim())
      .filter((each) => !/;\s*q=0(\.0*)?$/.test(each))
      .map((each) => each.replace(/;.*/, '').trim()),
  );

const PIECE_BYTES = 64 * 1024;
/** For all readers together, about 200 MB a second. Beside 333 slow readers the p99 of others was 0.1 s so, and 0.5 and 3.2 s with whole files. */
const PIECES_AT_ONCE = 4;
const PAUSE_MS = 1;

const createPace = (): (() => Promise<void>) => {
  let turns = 0;
  let last = Promise.resolve();
  return () => {
    turns += 1;
    const isPaused = turns % PIECES_AT_ONCE === 0;
    last = last.then(() => (isPaused ? sleep(PAUSE_MS) : undefined));
    return last;
  };
};

/** The next piece is sent once the reader has taken the last. */
async function* inPieces(bytes: Buffer, pace: () => Promise<void>): AsyncGenerator<Buffer> {
  for (let sent = 0; sent < bytes.length; sent += PIECE_BYTES) {
    await pace();
    yield bytes.subarray(sent, sent + PIECE_BYTES);
  }
}

const folderOf = (name: string): string => fileURLToPath(new URL(`../../dist/${name}`, import.meta.url));

/** Not in a checkout where only the packages for run time were installed. */
export const isBuilt = (name: string): boolean => existsSync(join(folderOf(name), 'index.html'));

export const HOW_TO_BUILD = 'in its folder run npm ci, without --omit=dev, and start it again';

/** Returns a test whether a path is a page. */
export const serveBuilt = (
  app: FastifyInstance,
  { name, title, policyFor, fileFor }: BuiltFiles,
): ((path: string) => boolean) => {
  const files = isBuilt(name) ? readFolder(folderOf(name)) : new Map<string, BuiltFile>();
  const missing = files.size > 0 ? {} : { message: `The ${title} is not built here: ${HOW_TO_BUILD}.` };
  const pace = createPace();
  app.get(`/${name}`, (_request, reply) => reply.redirect(`/${name}/`, 308));
  app.get<{ Params: { '*': string } }>(`/${name}/*`, ({ params, headers }, reply) => {
    const found = fileFor(params['*']) ?? '';
    const file = files.get(found);
    if (!file) throw new ServiceError('ROUTE_NOT_FOUND', missing);
    const accepted = acceptedBy(headers['accept-encoding']).add('identity');
    const [encoding, bytes] = [...file.encodings].find(([name]) => accepted.has(name)) as [string, Buffer];
    reply.headers({
      'content-security-policy': policyFor(found).join('; '),
      'cache-control': file.cacheControl,
      etag: file.etag,
      vary: 'accept-encoding',
    });
    if (headers['if-none-match']?.includes(file.etag)) return reply.code(304).send();
    if (encoding !== 'identity') reply.header('content-encoding', encoding);
    reply.type(file.type).header('content-length', bytes.length);
    if (bytes.length <= PIECE_BYTES) return reply.send(bytes);
    return reply.send(Readable.from(inPieces(bytes, pace), { objectMode: false }));
  });
  return (path) =>
    path === `/${name}` ||
    (path.startsWith(`/${name}/`) && files.has(fileFor(path.slice(name.length + 2)) ?? ''));
};
