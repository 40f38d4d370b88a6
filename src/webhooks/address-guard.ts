import { lookup, Resolver } from 'node:dns/promises';
import type { LookupFunction } from 'node:net';
import ipaddr from 'ipaddr.js';
import { buildConnector } from 'undici';
import { EXCHANGE_TIMEOUT_MS } from './policy.ts';
import { formFaultOf, urlIn } from './webhook-url.ts';

// Which addresses a webhook may be sent to. A shop's Admin chooses the URL, so without this anybody with an account could
// make the service call into the network it runs in.

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

/** All addresses of a host name. */
export type Resolve = (host: string) => Promise<string[]>;

/** The system's own look-up: knows the hosts file and local names. It holds a thread for as long as it takes. */
const systemResolve: Resolve = async (host) =>
  (await lookup(host, { all: true })).map(({ address }) => address);

/** Asks the name servers without holding a thread, so that a name server that hangs delays no other receiver. */
const networkResolve: Resolve = async (host) => {
  const resolver = new Resolver({ timeout: 2000, tries: 2 });
  const answers = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)]);
  const addresses = answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
  const [failure] = answers.filter((answer) => answer.status === 'rejected');
  if (addresses.length === 0 && failure) throw failure.reason;
  return addresses;
};

export interface AddressGuard {
  /** Why a URL may not be saved, as a phrase after its name, or null where it may. */
  faultOf(url: string): Promise<string | null>;
  /** Connects only to addresses that were looked at: the address checked is the address called. */
  connect: buildConnector.connector;
}

/** Refused by the guard, not by the network. */
export class ForbiddenAddress extends Error {}

export const addressGuard = ({
  allowPrivate,
  resolve,
}: {
  allowPrivate: boolean;
  resolve?: Resolve;
}): AddressGuard => {
  const addressesOf = resolve ?? (allowPrivate ? systemResolve : networkResolve);

  /** One forbidden address among several refuses the name: nobody can tell which one a connection would take. */
  const allowed = async (host: string): Promise<string[]> => {
    const addresses = ipaddr.isValid(host) ? [host] : await addressesOf(host);
    if (!allowPrivate && !addresses.every(isPublicAddress)) throw new ForbiddenAddress();
    return addresses;
  };

  const guardedLookup: LookupFunction = (host, options, done) => {
    allowed(host).then(
      (addresses) => {
        const found = addresses.map((address) => ({
          address,
          family: ipaddr.parse(address).kind() === 'ipv4' ? 4 : 6,
        }));
        const [first] = found;
        if (!first) done(new Error(`no address for ${host}`), '', 4);
        else if (options.all) done(null, found as never);
        else done(null, first.address, first.family);
      },
      (error) => done(error, '', 4),
    );
  };
  const connectTo = buildConnector({ timeout: EXCHANGE_TIMEOUT_MS, lookup: guardedLookup });

  return {
    connect(options, callback) {
      const host = hostIn(options.hostname);
      // Node asks no look-up for what is an address already.
      if (!allowPrivate && ipaddr.isValid(host) && !isPublicAddress(host))
        callback(new ForbiddenAddress(), null);
      else connectTo(options, callback);
    },
    async faultOf(value) {
      const url = urlIn(value);
      const fault = formFaultOf(url, allowPrivate);
      if (fault || !url || allowPrivate) return fault;
      const host = hostIn(url.hostname);
      if (/(^|\.)(localhost|local|internal|home\.arpa)$/.test(host)) return PRIVATE;
      try {
        await allowed(host);
        return null;
      } catch (error) {
        // A name that nobody knows yet may be saved: it is looked up again at every connection.
        return error instanceof ForbiddenAddress ? PRIVATE : null;
      }
    },
  };
};

const PRIVATE = 'must not lead into a private network';

/** Without the brackets of an IPv6 address and without the root's dot. */
const hostIn = (hostname: string): string =>
  hostname
    .replace(/^\[|\]$/g, '')
    .replace(/\.$/, '')
    .toLowerCase();
