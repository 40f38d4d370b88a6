import { hash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, sep } from 'node:path';
import { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { createGunzip } from 'node:zlib';
import type { FastifyInstance } from 'fastify';
import { ServiceError } from '../platform/errors.ts';

// Serves what `npm run build` wrote, from one copy in memory (4 MB) that all readers share. 300 readers who stop reading cost
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
  /** Not compressed. */
  length: number;
  /** By content encoding, the best first. A large asset is there only compressed, and unpacked for the rare client that takes nothing else. */
  encodings: Map<string, Buffer>;
}

const TYPES: Record<string, string> = {
  html: 'text/html; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml',
  json: 'application/json; charset=utf-8',
  woff2: 'font/woff2',
};
const PIECE_BYTES = 64 * 1024;
const ENDINGS = { br: '.br', gzip: '.gz', identity: '' };

const etagOf = (bytes: Buffer): string => `W/"${hash('sha256', bytes, 'base64url').slice(0, 20)}"`;

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
    const encodings = new Map(
      Object.entries(ENDINGS)
        .filter(([, ending]) => existsSync(join(root, `${found}${ending}`)))
        .map(([encoding, ending]) => [encoding, readFileSync(join(root, `${found}${ending}`))]),
    );
    const bytes = encodings.get('identity') as Buffer;
    const name = found.split(sep).join('/');
    const isAsset = name.startsWith('assets/');
    if (isAsset && encodings.has('gzip') && bytes.length > PIECE_BYTES) encodings.delete('identity');
    files.set(name, {
      type,
      etag: etagOf(bytes),
      // Built assets carry a hash of their content in their name.
      cacheControl: isAsset ? 'public, max-age=31536000, immutable' : 'no-cache',
      length: bytes.length,
      encodings,
    });
  }
  return files;
};

/** Any encoding that the header names without `q=0`. */
const accepts = (header: string | undefined, encoding: string): boolean =>
  (header ?? '').split(',').some((each) => {
    const [name = '', weight = ''] = each.toLowerCase().split(';');
    return name.trim() === encoding && !/^\s*q=0(\.0*)?\s*$/.test(weight);
  });

/** A page that names its files from the host on, for a service below a path. Not compressed: it is below 1 KiB. */
const belowPath = (name: string, publicPath: string, file: BuiltFile): BuiltFile => {
  const page = file.encodings.get('identity')?.toString() ?? '';
  const own = `="/${name}/`;
  if (publicPath === '' || !file.type.startsWith('text/html') || !page.includes(own)) return file;
  const bytes = Buffer.from(page.replaceAll(own, `="${publicPath}/${name}/`));
  return { ...file, etag: etagOf(bytes), length: bytes.length, encodings: new Map([['identity', bytes]]) };
};

/** For all readers together, about 200 MB a second. Beside 333 slow readers the p99 of others was 0.1 s so, and 0.5 and 3.2 s with whole files. */
const PIECES_AT_ONCE = 4;
const PAUSE_MS = 1;

let piecesSent = 0;
let pauses = Promise.resolve();

/** The next piece is sent once the reader has taken the last. */
async function* inPieces(bytes: Buffer): AsyncGenerator<Buffer> {
  for (let start = 0; start < bytes.length; start += PIECE_BYTES) {
    piecesSent += 1;
    if (piecesSent % PIECES_AT_ONCE === 0) pauses = pauses.then(() => sleep(PAUSE_MS));
    await pauses;
    yield bytes.subarray(start, start + PIECE_BYTES);
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
  publicPath: string,
): ((path: string) => boolean) => {
  const built = isBuilt(name) ? [...readFolder(folderOf(name))] : [];
  const files = new Map(built.map(([path, file]) => [path, belowPath(name, publicPath, file)]));
  const missing = files.size > 0 ? {} : { message: `The ${title} is not built here: ${HOW_TO_BUILD}.` };
  app.get(`/${name}`, (_request, reply) => reply.redirect(`${publicPath}/${name}/`, 308));
  app.get<{ Params: { '*': string } }>(`/${name}/*`, ({ params, headers }, reply) => {
    const found = fileFor(params['*']) ?? '';
    const file = files.get(found);
    if (!file) throw new ServiceError('ROUTE_NOT_FOUND', missing);
    const { 'accept-encoding': accepted } = headers;
    const [encoding, bytes] = [...file.encodings].find(
      ([each]) => each === 'identity' || accepts(accepted, each),
    ) ?? ['identity', null];
    reply.headers({
      'content-security-policy': policyFor(found).join('; '),
      'cache-control': file.cacheControl,
      etag: file.etag,
      vary: 'accept-encoding',
    });
    if (headers['if-none-match']?.includes(file.etag)) return reply.code(304).send();
    if (encoding !== 'identity') reply.header('content-encoding', encoding);
    reply.type(file.type).header('content-length', bytes?.length ?? file.length);
    if (bytes && bytes.length <= PIECE_BYTES) return reply.send(bytes);
    const stored = bytes ?? (file.encodings.get('gzip') as Buffer);
    const pieces = Readable.from(inPieces(stored), { objectMode: false });
    return reply.send(bytes ? pieces : pieces.pipe(createGunzip()));
  });
  return (path) =>
    path === `/${name}` ||
    (path.startsWith(`/${name}/`) && files.has(fileFor(path.slice(name.length + 2)) ?? ''));
};
