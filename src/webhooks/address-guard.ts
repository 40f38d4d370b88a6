import { Resolver } from 'node:dns/promises';
import { readFile } from 'node:fs/promises';
import { isIP, type LookupFunction } from 'node:net';
import ipaddr from 'ipaddr.js';
import { buildConnector } from 'undici';
import { EXCHANGE_TIMEOUT_MS, parseWebhookUrl, webhookUrlError } from './policy.ts';

// Decides which addresses a webhook may be sent to. A shop's Admin chooses the URL, so without this check any account could
// make the service send requests into its own network.

/** The address of Azure's host service. Its range is public, but webhooks must never reach it. */
const NEVER_PUBLIC = new Set(['168.63.129.16']);
/** All IPv6 addresses that are routed on the internet. Special ranges inside it have another range name. */
const GLOBAL_IPV6 = ipaddr.parseCIDR('2000::/3') as [ipaddr.IPv6, number];

const isPublicAddress = (address: string): boolean => {
  if (!ipaddr.isValid(address)) return false;
  const parsed = ipaddr.process(address);
  if (parsed.range() !== 'unicast' || NEVER_PUBLIC.has(parsed.toString())) return false;
  return parsed instanceof ipaddr.IPv4 || parsed.match(GLOBAL_IPV6);
};

export type Resolve = (host: string) => Promise<string[]>;

/**
 * Queries the name servers through c-ares. The system's lookup (getaddrinfo) would block one of Node's four threads while a
 * name server hangs, and database connections need those threads too.
 */
const networkResolve: Resolve = async (host) => {
  const resolver = new Resolver({ timeout: 2000, tries: 2 });
  const results = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)]);
  const addresses = results.flatMap((result) => (result.status === 'fulfilled' ? result.value : []));
  const [failure] = results.filter((result) => result.status === 'rejected');
  if (addresses.length === 0) throw failure?.reason ?? new Error(`no address for ${host}`);
  return addresses;
};

const readWords = async (file: string): Promise<string[][]> => {
  const text = await readFile(file, 'utf8').catch(() => '');
  const lines = text.replaceAll(/[#;].*/g, '').split('\n');
  return lines.map((line) => line.trim().toLowerCase().split(/\s+/));
};

/** Resolves names of a private network too: they may be in the hosts file, or lack the domain that resolv.conf adds. */
const privateResolve: Resolve = async (host) => {
  const hosts = await readWords('/etc/hosts');
  const own = hosts.flatMap(([address = '', ...names]) =>
    names.includes(host) && ipaddr.isValid(address) ? [address] : [],
  );
  if (own.length > 0) return own;
  if (/(^|\.)localhost$/.test(host)) return ['127.0.0.1', '::1'];
  const lines = await readWords('/etc/resolv.conf');
  const domains = lines.findLast(([name]) => name === 'search' || name === 'domain')?.slice(1) ?? [];
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
  /** Returns why a URL may not be saved, as a phrase that follows its name, or null if it may. */
  urlError(url: string): Promise<string | null>;
  /** Connects only to the addresses that it has checked itself, so a second lookup cannot return others. */
  connect: buildConnector.connector;
}

/** The guard refused the address; the network was not asked. */
export class ForbiddenAddress extends Error {}

export const addressGuard = (options: { allowPrivate: boolean; resolve?: Resolve }): AddressGuard => {
  const { allowPrivate, resolve = allowPrivate ? privateResolve : networkResolve } = options;

  /** One forbidden address refuses the whole name, since a connection may use any of its addresses. */
  const allowedAddresses = async (host: string): Promise<string[]> => {
    const addresses = ipaddr.isValid(host) ? [host] : await resolve(host);
    // A name may exist without an address. If a lookup returned none, Node would throw an error that nobody can catch.
    if (addresses.length === 0) throw new Error(`no address for ${host}`);
    if (!allowPrivate && !addresses.every(isPublicAddress)) throw new ForbiddenAddress();
    return addresses;
  };

  const lookup: LookupFunction = (host, _options, done) => {
    const found = allowedAddresses(host).then((all) =>
      all.map((address) => ({ address, family: isIP(address) })),
    );
    found.then(
      (addresses) => done(null, addresses),
      (error) => done(error, []),
    );
  };
  const connectToAllowed = buildConnector({
    timeout: EXCHANGE_TIMEOUT_MS,
    // A connector ignores the agent's `allowH2` and would offer HTTP/2 (`worker/send.ts`).
    allowH2: false,
    lookup,
    // Node requests all addresses of a name and tries them in turn.
    autoSelectFamily: true,
  });

  return {
    connect(options, callback) {
      const host = normalizedHost(options.hostname);
      // Node does not call `lookup` for a host that is already an address.
      if (!allowPrivate && ipaddr.isValid(host) && !isPublicAddress(host))
        callback(new ForbiddenAddress(), null);
      else connectToAllowed(options, callback);
    },
    async urlError(value) {
      const url = parseWebhookUrl(value);
      const problem = webhookUrlError(url, allowPrivate);
      if (problem || !url || allowPrivate) return problem;
      const host = normalizedHost(url.hostname);
      if (/(^|\.)(localhost|local|internal|home\.arpa)$/.test(host)) return PRIVATE_NETWORK_ERROR;
      // A name that does not exist yet may be saved, since every connection looks it up again.
      const failure: unknown = await allowedAddresses(host).catch((error) => error);
      return failure instanceof ForbiddenAddress ? PRIVATE_NETWORK_ERROR : null;
    },
  };
};

const PRIVATE_NETWORK_ERROR = 'must not lead into a private network';

/** The host in lower case, without the brackets of an IPv6 address and without the final dot. */
const normalizedHost = (hostname: string): string => hostname.toLowerCase().replaceAll(/^\[|\]$|\.$/g, '');
