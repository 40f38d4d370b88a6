import { Resolver } from 'node:dns/promises';
import { readFile } from 'node:fs/promises';
import { isIP, type LookupFunction } from 'node:net';
import ipaddr from 'ipaddr.js';
import { buildConnector } from 'undici';
import { EXCHANGE_TIMEOUT_MS, formErrorOf, urlIn } from './policy.ts';

// Which addresses a webhook may be sent to. A shop's Admin chooses the URL, so without this any account could make the service
// call into the network it runs in.

/** Azure's host service: an ordinary public address by its range, and never one to call. */
const NEVER = new Set(['168.63.129.16']);
/** All that is routed on the internet; what lies in it but is special has a range name of its own. */
const GLOBAL_IPV6 = ipaddr.parseCIDR('2000::/3') as [ipaddr.IPv6, number];

const isPublicAddress = (address: string): boolean => {
  if (!ipaddr.isValid(address)) return false;
  const parsed = ipaddr.process(address);
  if (parsed.range() !== 'unicast' || NEVER.has(parsed.toString())) return false;
  return parsed instanceof ipaddr.IPv4 || parsed.match(GLOBAL_IPV6);
};

export type Resolve = (host: string) => Promise<string[]>;

/**
 * Asks the name servers by c-ares. The system's look-up (getaddrinfo) would hold one of Node's four threads for as long as a
 * name server hangs, and the connections to the database need them too.
 */
const networkResolve: Resolve = async (host) => {
  const resolver = new Resolver({ timeout: 2000, tries: 2 });
  const results = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)]);
  const addresses = results.flatMap((result) => (result.status === 'fulfilled' ? result.value : []));
  const [failure] = results.filter((result) => result.status === 'rejected');
  if (addresses.length === 0) throw failure?.reason ?? new Error(`no address for ${host}`);
  return addresses;
};

const linesOf = async (file: string): Promise<string[][]> => {
  const text = await readFile(file, 'utf8').catch(() => '');
  const lines = text.replaceAll(/[#;].*/g, '').split('\n');
  return lines.map((line) => line.trim().toLowerCase().split(/\s+/));
};

/** The same for a private network, whose names are also in the hosts file or lack the domain that resolv.conf adds. */
const privateResolve: Resolve = async (host) => {
  const hosts = await linesOf('/etc/hosts');
  const own = hosts.flatMap(([address = '', ...names]) =>
    names.includes(host) && ipaddr.isValid(address) ? [address] : [],
  );
  if (own.length > 0) return own;
  if (/(^|\.)localhost$/.test(host)) return ['127.0.0.1', '::1'];
  const settings = await linesOf('/etc/resolv.conf');
  const domains = settings.findLast(([name]) => name === 'search' || name === 'domain')?.slice(1) ?? [];
  let failure: unknown = null;
  for (const name of [host, ...domains.map((domain) => `${host}.${domain}`)])
    try {
      return await networkResolve(name);
    } catch (error) {
      failure ??= error;
      if (!/^(ENOTFOUND|ENODATA)$/.test((error as NodeJS.ErrnoException).code ?? '')) break;
    }
  throw failure;
};

export interface AddressGuard {
  /** Why a URL may not be saved, as a phrase after its name, or null where it may. */
  errorOf(url: string): Promise<string | null>;
  /** Connects only to addresses that were looked at: the address checked is the address called. */
  connect: buildConnector.connector;
}

/** Refused by the guard, not by the network. */
export class ForbiddenAddress extends Error {}

export const addressGuard = (options: { allowPrivate: boolean; resolve?: Resolve }): AddressGuard => {
  const { allowPrivate, resolve = allowPrivate ? privateResolve : networkResolve } = options;

  /** One forbidden address among several refuses the name: a connection may take any of them. */
  const allowed = async (host: string): Promise<string[]> => {
    const addresses = ipaddr.isValid(host) ? [host] : await resolve(host);
    // A name may exist without an address. Node throws where nobody can catch it when a look-up returns none.
    if (addresses.length === 0) throw new Error(`no address for ${host}`);
    if (!allowPrivate && !addresses.every(isPublicAddress)) throw new ForbiddenAddress();
    return addresses;
  };

  const lookup: LookupFunction = (host, _options, done) => {
    const found = allowed(host).then((all) => all.map((address) => ({ address, family: isIP(address) })));
    found.then(
      (addresses) => done(null, addresses),
      (error) => done(error, []),
    );
  };
  const connectTo = buildConnector({
    timeout: EXCHANGE_TIMEOUT_MS,
    // A connector takes no notice of the agent's own `allowH2`, and would offer it (`worker/send.ts`).
    allowH2: false,
    lookup,
    // Node asks for all addresses of a name, and tries one after the other.
    autoSelectFamily: true,
  });

  return {
    connect(options, callback) {
      const host = hostIn(options.hostname);
      // Node asks no look-up for what is an address already.
      if (!allowPrivate && ipaddr.isValid(host) && !isPublicAddress(host))
        callback(new ForbiddenAddress(), null);
      else connectTo(options, callback);
    },
    async errorOf(value) {
      const url = urlIn(value);
      const problem = formErrorOf(url, allowPrivate);
      if (problem || !url || allowPrivate) return problem;
      const host = hostIn(url.hostname);
      if (/(^|\.)(localhost|local|internal|home\.arpa)$/.test(host)) return PRIVATE;
      // A name that does not exist yet may be saved: it is looked up again at every connection.
      const failure: unknown = await allowed(host).catch((error) => error);
      return failure instanceof ForbiddenAddress ? PRIVATE : null;
    },
  };
};

const PRIVATE = 'must not lead into a private network';

/** Without the brackets of an IPv6 address and without the root's dot. */
const hostIn = (hostname: string): string => hostname.toLowerCase().replaceAll(/^\[|\]$|\.$/g, '');
