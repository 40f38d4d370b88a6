import { Resolver } from 'node:dns/promises';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:tls';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { addressGuard, ForbiddenAddress } from '../../src/webhooks/address-guard.ts';
import { createSender } from '../../src/webhooks/worker/send.ts';
import { FORBIDDEN_HOSTS, FORBIDDEN_NAMES, PUBLIC_HOSTS } from '../support/addresses.ts';

const PRIVATE = 'must not lead into a private network';
const guardWith = (responses: Record<string, string[]> = {}) =>
  addressGuard({
    allowPrivate: false,
    resolve: async (host) => {
      const addresses = responses[host];
      if (!addresses) throw Object.assign(new Error('not found'), { code: 'ENOTFOUND' });
      return addresses;
    },
  });

/** Whether the guard refuses a connection or lets it be tried. Nothing leaves this machine. */
const connecting = (guard: ReturnType<typeof guardWith>, host: string): Promise<Error | null> =>
  new Promise((resolve) =>
    guard.connect(
      { hostname: new URL(`https://${host}/`).hostname, host, port: '443', protocol: 'https:' } as never,
      (error, _socket) => resolve(error),
    ),
  );

describe('saving a webhook URL', () => {
  it.each(FORBIDDEN_HOSTS)('refuses https://%s/', async (host) => {
    expect(await guardWith().urlError(`https://${host}/hook`)).not.toBeNull();
  });
  it.each(FORBIDDEN_NAMES)('refuses the name %s', async (host) => {
    expect(await guardWith().urlError(`https://${host}/hook`)).toBe(PRIVATE);
  });
  it.each(PUBLIC_HOSTS)('accepts https://%s/', async (host) => {
    expect(await guardWith().urlError(`https://${host}/hook`)).toBeNull();
  });

  it.each<[addresses: string[], fault: string | null]>([
    [['127.0.0.1'], PRIVATE],
    [['::1'], PRIVATE],
    [['::ffff:10.0.0.1'], PRIVATE],
    [['169.254.169.254'], PRIVATE],
    [['fd00::1'], PRIVATE],
    [['93.184.216.34', '10.0.0.1'], PRIVATE],
    [['93.184.216.34', '2606:4700:4700::1111'], null],
  ])('checks the addresses of a name: %j', async (addresses, fault) => {
    // Only the beginning looks like a private name.
    const guard = guardWith({ 'localhost.example.com': addresses });
    expect(await guard.urlError('https://localhost.example.com:8443/hook?x=1')).toBe(fault);
  });
  it('accepts a name that does not resolve yet', async () => {
    expect(await guardWith().urlError('https://not-yet.example/')).toBeNull();
  });

  it.each<[fault: string, ...urls: string[]]>([
    ['must be an https address', 'ftp://example.com/', 'http://example.com/', 'http://93.184.216.34/'],
    [
      'must not contain a user name or password',
      'https://user:pass@example.com/',
      'https://user@example.com/',
    ],
    ['must be a complete URL', 'file:///etc/passwd', 'javascript:alert(1)', 'https:example.com'],
    ['must be a complete URL', 'example.com', '', '//example.com', 'https://'],
    ['must be a complete URL', 'https://example.com:99999/', 'https://example.com/\r\nx: y'],
  ])('%s: %j', async (fault, ...urls) => {
    for (const url of urls)
      expect([url, await guardWith().urlError(url)]).toEqual([url, expect.stringContaining(fault)]);
  });
  it('accepts private addresses and http if allowed, but still no credentials', async () => {
    const guard = addressGuard({ allowPrivate: true });
    expect(await guard.urlError('http://127.0.0.1:4000/')).toBeNull();
    expect(await guard.urlError('http://user:pass@127.0.0.1/')).not.toBeNull();
    expect(await guard.urlError('ftp://127.0.0.1/')).toBe('must be an https address');
  });
});

describe('connecting', () => {
  it.each(FORBIDDEN_HOSTS)('refuses %s', async (host) => {
    expect(await connecting(guardWith(), host)).toBeInstanceOf(ForbiddenAddress);
  });
  it.each([
    ['127.0.0.1'],
    ['93.184.216.34', '192.168.0.1'],
    ['::1'],
    ['::ffff:169.254.169.254'],
    ['93.184.216.34', 'no address'],
  ])(
    'refuses a name that now resolves to %s, whatever it resolved to when it was saved',
    async (...addresses) => {
      expect(await connecting(guardWith({ 'rebound.example': addresses }), 'rebound.example')).toBeInstanceOf(
        ForbiddenAddress,
      );
    },
  );
  it('tells the shop that the address is not allowed', async () => {
    const sender = createSender(guardWith({ 'rebound.example': ['10.0.0.1'] }));
    const message = { secret: 's', id: 'i', event: 'e', attempt: 1, body: Buffer.from('{}') };
    for (const url of ['https://rebound.example/', 'https://127.0.0.1/', 'https://[::1]/'])
      expect(await sender.send({ ...message, url })).toEqual({
        statusCode: null,
        error: 'address not allowed: it leads into a private network',
      });
    await sender.close();
  });
});

it('does not offer HTTP/2 to receivers, since requests would share a connection', async () => {
  const tls = (name: string) => readFileSync(new URL(`../support/tls/${name}`, import.meta.url));
  const offered = Promise.withResolvers<string[]>();
  const server = createServer({
    key: tls('server.key'),
    cert: tls('server.pem'),
    ALPNCallback({ protocols }) {
      offered.resolve(protocols);
      return 'http/1.1';
    },
  }).listen(0, '127.0.0.1');
  onTestFinished(() => void server.close());
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const address = { hostname: '127.0.0.1', host: '127.0.0.1', port: String(port), protocol: 'https:' };
  // The certificate is checked, and not trusted, after the offer.
  addressGuard({ allowPrivate: true }).connect(address as never, () => {});
  expect(await offered.promise).toEqual(['http/1.1']);
});

it('a connection to a name without an address fails, with any resolver', async () => {
  for (const allowPrivate of [false, true]) {
    const guard = addressGuard({ allowPrivate, resolve: async () => [] });
    expect((await connecting(guard, 'alias.example'))?.message).toBe('no address for alias.example');
    expect(await guard.urlError('https://alias.example/')).toBeNull();
  }
});

describe('name resolution', () => {
  /** The name servers' answers for every name: addresses of both kinds, or an error. */
  const nameServers = (v4: string[] | string, v6: string[] | string) => {
    const asked: string[] = [];
    const response = (known: string[] | string) => async (host: string) => {
      asked.push(host);
      if (typeof known === 'string') throw Object.assign(new Error(known), { code: known });
      return known;
    };
    const spies = [
      vi.spyOn(Resolver.prototype, 'resolve4').mockImplementation(response(v4) as never),
      vi.spyOn(Resolver.prototype, 'resolve6').mockImplementation(response(v6) as never),
    ];
    onTestFinished(() => {
      for (const spy of spies) spy.mockRestore();
    });
    return asked;
  };
  const guard = addressGuard({ allowPrivate: false });

  it.each<[string[] | string, string[] | string, string | null]>([
    [['93.184.216.34'], 'ENODATA', null],
    ['ENODATA', ['2606:4700:4700::1111'], null],
    [['10.0.0.1'], 'ENODATA', PRIVATE],
    ['ENODATA', ['::1'], PRIVATE],
    [['93.184.216.34'], ['fd00::1'], PRIVATE],
    ['ENOTFOUND', 'ENOTFOUND', null],
  ])('uses the name servers: IPv4 %j, IPv6 %j', async (v4, v6, fault) => {
    const asked = nameServers(v4, v6);
    expect(await guard.urlError('https://shop.example/')).toBe(fault);
    expect(asked).toEqual(['shop.example', 'shop.example']);
  });

  it('fails a connection without an address, with the error of the name servers', async () => {
    nameServers('ENOTFOUND', 'ESERVFAIL');
    expect(await connecting(guard, 'nobody.example')).toMatchObject({ code: 'ENOTFOUND' });
    nameServers([], []);
    expect((await connecting(guard, 'nobody.example'))?.message).toBe('no address for nobody.example');
  });

  describe('if private networks are allowed', () => {
    const own = addressGuard({ allowPrivate: true });

    it('also uses the name servers, once, without a thread that a silent one would block', async () => {
      const asked = nameServers(['127.0.0.1'], 'ENODATA');
      expect(await connecting(own, 'erp.example')).toMatchObject({ code: 'ECONNREFUSED' });
      expect(asked).toEqual(['erp.example', 'erp.example']);
    });

    it('does not use them for names in the hosts file, nor for localhost', async () => {
      const asked = nameServers('ENOTFOUND', 'ENOTFOUND');
      for (const host of ['localhost', 'a.localhost', '127.0.0.1'])
        expect(await connecting(own, host)).toMatchObject({ code: 'ECONNREFUSED' });
      expect(asked).toEqual([]);
    });

    it('reports the error of the name servers', async () => {
      nameServers('ETIMEOUT', 'ETIMEOUT');
      expect(await connecting(own, 'silent.example')).toMatchObject({ code: 'ETIMEOUT' });
      nameServers('ENOTFOUND', 'ENOTFOUND');
      expect(await connecting(own, 'unknown.example')).toMatchObject({ code: 'ENOTFOUND' });
    });
  });
});
