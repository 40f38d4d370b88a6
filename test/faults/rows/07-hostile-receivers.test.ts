import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { createServer, type TlsOptions } from 'node:tls';
import { expect, it, onTestFinished } from 'vitest';
import { residentMb, watchMemory } from '../../support/asked-process.ts';
import { effort, expectWithin, measured, triedDeliveries } from '../../support/faults.ts';
import { HOSTILE } from '../../support/hostile-receivers.ts';
import {
  type Env,
  lookInto,
  migratedDatabase,
  SENDING,
  type ServerProcess,
  startServer,
  temporaryFolder,
} from '../../support/process.ts';
import { rawServer } from '../../support/raw-server.ts';
import { startReceiver } from '../../support/receiver.ts';
import { addShops, type MadeShop } from '../../support/shops.ts';
import { needs, toolPath } from '../../support/tools.ts';
import { scaled, until } from '../../support/until.ts';

/** A receiver behind TLS that takes everything with a 200 and counts the bytes that it was entrusted with. */
const tlsReceiver = async (options: TlsOptions): Promise<{ url: string; received: () => number }> => {
  let received = 0;
  const server = createServer(options, (socket) => {
    socket
      .on('error', () => {})
      .on('data', (bytes) => {
        received += bytes.length;
        socket.end('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n');
      });
  });
  server.on('tlsClientError', () => {});
  await new Promise<void>((resolve) => server.listen(0, 'localhost', resolve));
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  return { url: `https://localhost:${port}/hook`, received: () => received };
};

const KEY = '-newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes';

/** An authority of the test's own and certificates in its name: a good one, and bad ones with one error each. */
const makeCertificates = () => {
  const folder = temporaryFolder();
  const at = (name: string) => join(folder, name);
  const openssl = (command: string) =>
    void execFileSync(toolPath('openssl'), command.split(' '), {
      cwd: folder,
      stdio: 'pipe',
      timeout: scaled(30_000),
    });
  const filesOf = (name: string) => ({
    key: readFileSync(at(`${name}.key`)),
    cert: readFileSync(at(`${name}.crt`)),
  });
  const signed = (name: string, host: string, days: number, by: string) => {
    writeFileSync(at(`${name}.ext`), `subjectAltName=DNS:${host}`);
    openssl(`req ${KEY} -keyout ${name}.key -out ${name}.csr -subj /CN=${host}`);
    const authority = `-CA ${by}.crt -CAkey ${by}.key -CAcreateserial`;
    openssl(`x509 -req -in ${name}.csr ${authority} -days ${days} -extfile ${name}.ext -out ${name}.crt`);
    return filesOf(name);
  };
  for (const name of ['trusted', 'untrusted', 'localhost'])
    openssl(`req -x509 ${KEY} -keyout ${name}.key -out ${name}.crt -days 2 -subj /CN=${name}`);
  return {
    /** What a process must trust, as a file for NODE_EXTRA_CA_CERTS. */
    authorityFile: at('trusted.crt'),
    good: signed('good', 'localhost', 2, 'trusted'),
    bad: {
      'self-signed': filesOf('localhost'),
      expired: signed('expired', 'localhost', -1, 'trusted'),
      'of another name': signed('other', 'another-host.example', 2, 'trusted'),
      'of an unknown authority': signed('unknown', 'localhost', 2, 'untrusted'),
    },
  };
};

const MOST_MORE_MB = 20;
/** Events for each receiver, and how often each is tried before they are looked at. */
const EVENTS = effort(1, 8);
const ATTEMPTS = effort(1, 4);
/** Rounds of the same load with harmless receivers, until the process has its usual size; without them memory tells nothing. */
const MOST_ROUNDS = effort(0, 20);

interface Attempt {
  statusCode: number | null;
  error: string | null;
  durationMs: number;
}

const events = async (server: ServerProcess, keys: string[]): Promise<void> => {
  for (let done = 0; done < keys.length; done += 50) {
    const some = keys.slice(done, done + 50);
    const made = await Promise.all(some.map((key) => server.create({}, { key })));
    for (const response of made) expect(response).toHaveStatus(201);
  }
};

const attemptsOf = async (env: Env, deliveries: number): Promise<Map<string, Attempt[]>> => {
  const rows = await triedDeliveries(lookInto(env), deliveries, ATTEMPTS, effort(30_000, 120_000));
  const found = new Map<string, Attempt[]>();
  for (const { receiver_id, attempt_log } of rows)
    found.set(receiver_id, [...(found.get(receiver_id) ?? []), ...JSON.parse(attempt_log)]);
  return found;
};

/** Receivers with a certificate that must not be trusted, and one that has none. */
const badlyCertified = async (certificates: ReturnType<typeof makeCertificates>) => {
  const receivers: Record<string, { url: string; leaked: () => boolean }> = {};
  for (const [name, certificate] of Object.entries(certificates.bad)) {
    const { url, received } = await tlsReceiver(certificate);
    receivers[`a certificate that is ${name}`] = { url, leaked: () => received() > 0 };
  }
  let heard = '';
  const plain = await rawServer((socket) => {
    socket.on('data', (bytes) => {
      heard += bytes.toString('latin1');
    });
    socket.end('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n');
  });
  receivers['no TLS where there should be'] = {
    url: plain.replace('http:', 'https:'),
    leaked: () => /POST|webhook|rmaNumber/i.test(heard),
  };
  return receivers;
};

/** As many events to as many receivers that do no harm: they take their time, fail at first, and then acknowledge. */
const warmUp = async (server: ServerProcess, env: Env, receivers: number): Promise<number> => {
  if (MOST_ROUNDS === 0) return 0;
  const slow = await startReceiver((_nth, response, { headers }) => {
    setTimeout(() => response.writeHead(headers['x-webhook-attempt'] === '1' ? 500 : 200).end(), 200);
    return undefined;
  });
  const shops = await addShops(env, receivers, () => slow.url);
  const keys = Array.from({ length: EVENTS }, () => shops.map(({ key }) => key)).flat();
  const sizes: number[] = [];
  for (let round = 1; round <= MOST_ROUNDS; round += 1) {
    await events(server, keys);
    await slow.got(2 * keys.length * round, 30_000);
    sizes.push(residentMb(server.pid));
    const earlier = sizes.at(-4);
    if (earlier !== undefined && (sizes.at(-1) as number) - earlier < 2) break;
  }
  return sizes.length * keys.length;
};

it('a hostile receiver fails its deliveries, uses no memory, and learns nothing over an invalid certificate', {
  ...needs('openssl'),
  timeout: scaled(240_000),
}, async () => {
  const certificates = makeCertificates();
  const env = await migratedDatabase(SENDING);
  const server = await startServer({ ...env, NODE_EXTRA_CA_CERTS: certificates.authorityFile });
  const healthy = await startReceiver();
  const trusted = await tlsReceiver(certificates.good);
  const badly = await badlyCertified(certificates);
  const hostile = new Map<string, string>();
  for (const [name, { behave, atConnection }] of Object.entries(HOSTILE))
    hostile.set(name, await rawServer(behave, atConnection ? { atConnection } : {}));
  const names = [...hostile.keys(), ...Object.keys(badly)];
  const urls = [healthy.url, trusted.url, ...hostile.values(), ...Object.values(badly).map(({ url }) => url)];
  const shops = await addShops(env, urls.length, (i) => urls[i] as string);
  const [well, overTls, ...harmful] = shops as [MadeShop, MadeShop, ...MadeShop[]];

  const warmedUp = await warmUp(server, env, names.length);
  await events(server, [overTls.key]);
  await until('a good certificate is trusted', () => trusted.received() > 0);

  const memory = watchMemory(server.pid);
  const beforeMb = memory();
  await events(server, Array.from({ length: EVENTS }, () => harmful.map(({ key }) => key)).flat());
  await events(server, [well.key]);
  await healthy.got(1, 5_000);
  const attempts = await attemptsOf(env, warmedUp + 2 + EVENTS * harmful.length);
  const moreMb = memory() - beforeMb;

  for (const [i, { clientId }] of harmful.entries()) {
    const name = names[i] as string;
    const { status = null, error = /TLS connection not trusted/ } = HOSTILE[name] ?? {};
    for (const attempt of attempts.get(clientId) as Attempt[]) {
      expect({ name, ...attempt }).toMatchObject({
        name,
        statusCode: status,
        error: status === null ? expect.stringMatching(error) : null,
      });
      // The service does not read on for the 10 s of an exchange.
      expectWithin(attempt.durationMs, /10 s/.test(error.source) && status === null ? 12_000 : 9_000);
    }
  }
  for (const [name, { leaked }] of Object.entries(badly)) expect(leaked(), name).toBe(false);
  measured(
    7,
    `${names.length} kinds of receivers, ${EVENTS} events each: ${moreMb.toFixed(0)} MB more memory`,
  );
  if (MOST_ROUNDS > 0) expect(moreMb).toBeLessThanOrEqual(MOST_MORE_MB);
});
