import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { scaled } from './machine.ts';
import { temporaryFolder } from './process.ts';
import { toolPath } from './tools.ts';

// An authority of the test's own and certificates in its name, good and bad, made anew for each run.

const KEY = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'];

interface Certificate {
  key: Buffer;
  cert: Buffer;
}

export interface Certificates {
  /** What a process must trust, as a file for NODE_EXTRA_CA_CERTS. */
  authorityFile: string;
  good: Certificate;
  /** Each with one fault. */
  bad: Record<string, Certificate>;
}

export const makeCertificates = (): Certificates => {
  const folder = temporaryFolder();
  const at = (name: string) => join(folder, name);
  const openssl = (...args: string[]) =>
    void execFileSync(toolPath('openssl'), args, { stdio: 'pipe', timeout: scaled(30_000) });
  const authority = (name: string) =>
    openssl(
      'req',
      '-x509',
      ...KEY,
      '-keyout',
      at(`${name}.key`),
      '-out',
      at(`${name}.pem`),
      '-days',
      '2',
      '-subj',
      `/CN=${name}`,
    );
  const signed = (name: string, host: string, days: number, by: string): Certificate => {
    const [key, request, extensions, cert] = ['key', 'csr', 'ext', 'crt'].map((end) =>
      at(`${name}.${end}`),
    ) as [string, string, string, string];
    writeFileSync(extensions, `subjectAltName=DNS:${host}`);
    openssl('req', ...KEY, '-keyout', key, '-out', request, '-subj', `/CN=${host}`);
    openssl(
      'x509',
      '-req',
      '-in',
      request,
      '-CA',
      at(`${by}.pem`),
      '-CAkey',
      at(`${by}.key`),
      '-CAcreateserial',
      '-days',
      String(days),
      '-extfile',
      extensions,
      '-out',
      cert,
    );
    return { key: readFileSync(key), cert: readFileSync(cert) };
  };
  authority('trusted');
  authority('untrusted');
  authority('localhost');
  return {
    authorityFile: at('trusted.pem'),
    good: signed('good', 'localhost', 2, 'trusted'),
    bad: {
      'self-signed': { key: readFileSync(at('localhost.key')), cert: readFileSync(at('localhost.pem')) },
      expired: signed('expired', 'localhost', -1, 'trusted'),
      'of another name': signed('other', 'somebody-else.example', 2, 'trusted'),
      'of an authority that nobody trusts': signed('unknown', 'localhost', 2, 'untrusted'),
    },
  };
};
