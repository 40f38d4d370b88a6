import type * as OpenIdClient from 'openid-client';
import { Agent, fetch } from 'undici';
import type { ProviderRefusalCode } from '../../contract/admin-access.ts';
import { timeLimit } from '../lib/time-limits.ts';
import type { ProviderSettings } from '../platform/config.ts';

// The identity provider: OpenID Connect, authorisation code flow with PKCE.

const TIMEOUT_S = 3;
/** The provider's clock may differ from ours by this much. */
export const CLOCK_TOLERANCE_S = 60;
const MAX_RESPONSE_BYTES = 1024 * 1024;

/** The state of a sign-in at the provider. It is sealed into a cookie until the browser returns. */
export interface Challenge {
  state: string;
  nonce: string;
  verifier: string;
}

export interface Identity {
  issuer: string;
  subject: string;
  /** It is null unless the provider has verified it. */
  email: string | null;
  name: string | null;
  /** When they last authenticated at the provider, by its clock; null if it does not say. */
  authenticatedAt: number | null;
}

/** These details are logged: the user if known, and nothing else about the person. */
type RefusalDetails = Record<string, unknown> & { userId?: string | undefined };

/** Why a sign-in at the provider failed. */
export class ProviderRefusal extends Error {
  readonly refusal: ProviderRefusalCode;
  readonly details: RefusalDetails;

  constructor(refusal: ProviderRefusalCode, details: RefusalDetails = {}) {
    super(refusal);
    this.refusal = refusal;
    this.details = details;
  }
}

type Claims = Record<string, unknown>;

/** The hosts of Microsoft's issuers, in its public and its national clouds. */
const MICROSOFT =
  /^(login\.microsoftonline\.(com|us)|login\.partner\.microsoftonline\.cn|sts\.windows\.net|[\w-]+\.ciamlogin\.com)$/;

/**
 * Microsoft's providers have a claim of their own, which is ignored if another provider sends it. Some send strings instead of
 * booleans. `email_verified` takes precedence.
 */
export const isVerified = ({ email_verified, xms_edov }: Claims, issuer: string): boolean => {
  const isMicrosoft = MICROSOFT.test(URL.parse(issuer)?.hostname ?? '');
  const claim = email_verified ?? (isMicrosoft ? xms_edov : false);
  return claim === true || claim === 'true' || claim === '1';
};

/** Throws if a time from the provider is in the future by more than the tolerance, since such a time proves nothing. */
const refuseFuture = (claims: Claims, names: string[]): void => {
  const latestS = Date.now() / 1000 + CLOCK_TOLERANCE_S;
  const wrong = names.find((name) => Number(claims[name] ?? 0) > latestS);
  if (wrong) throw new ProviderRefusal('INVALID', { wrong });
};

const textIn = (claim: unknown): string | null => (typeof claim === 'string' && claim !== '' ? claim : null);

/** It is loaded on first use; otherwise it would add 50 ms to every start. */
const loadLibrary = (): Promise<typeof OpenIdClient> => import('openid-client');

export class IdentityProvider {
  readonly #settings: ProviderSettings;
  readonly #agent = new Agent({ maxResponseSize: MAX_RESPONSE_BYTES, pipelining: 0 });
  #client: Promise<OpenIdClient.Configuration> | null = null;

  constructor(settings: ProviderSettings) {
    this.#settings = settings;
  }

  /** Returns the address to redirect to. With `asksAgain` the person must enter their password there again. */
  async begin(redirectUri: string, asksAgain: boolean): Promise<{ url: URL; challenge: Challenge }> {
    const oidc = await loadLibrary();
    const [state, nonce, verifier] = [oidc.randomState(), oidc.randomNonce(), oidc.randomPKCECodeVerifier()];
    const url = oidc.buildAuthorizationUrl(await this.discover(), {
      redirect_uri: redirectUri,
      scope: 'openid email profile',
      state,
      nonce,
      code_challenge: await oidc.calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
      ...(asksAgain ? { max_age: '0' } : {}),
    });
    return { url, challenge: { state, nonce, verifier } };
  }

  /** Returns who signed in. Throws a ProviderRefusal unless the whole response of the provider is valid. */
  async finish({ state, nonce, verifier }: Challenge, address: URL): Promise<Identity> {
    const { authorizationCodeGrant, fetchUserInfo } = await loadLibrary();
    const client = await this.discover();
    try {
      const checks = { expectedState: state, expectedNonce: nonce, pkceCodeVerifier: verifier };
      const tokens = await authorizationCodeGrant(client, address, { ...checks, idTokenExpected: true });
      const claims: Claims & { iss: string; sub: string } = { iss: '', sub: '', ...tokens.claims() };
      // Otherwise everyone with an empty subject would be the same person.
      if (claims.sub === '') throw new ProviderRefusal('INVALID', { wrong: 'sub' });
      refuseFuture(claims, ['iat', 'auth_time']);
      const { iss: issuer } = claims;
      const saysNo = (claims['email_verified'] ?? null) !== null && !isVerified(claims, issuer);
      const hasMore = client.serverMetadata().userinfo_endpoint !== undefined;
      const asksMore = !saysNo && !isVerified(claims, issuer) && hasMore;
      // Both come from the same response: an email and the claim that it is verified belong together.
      const person: Claims = asksMore ? await fetchUserInfo(client, tokens.access_token, claims.sub) : claims;
      const authTime = claims['auth_time'];
      return {
        issuer,
        subject: claims.sub,
        email: isVerified(person, issuer) ? textIn(person['email']) : null,
        name: textIn(person['name']) ?? textIn(claims['name']),
        authenticatedAt: typeof authTime === 'number' ? authTime * 1000 : null,
      };
    } catch (error) {
      throw refusalOf(error);
    }
  }

  /** Reads the provider's metadata once, and again after a failure. The library fetches new keys by itself. */
  discover(): Promise<OpenIdClient.Configuration> {
    this.#client ??= this.#read().catch((error) => {
      this.#client = null;
      throw refusalOf(error);
    });
    return this.#client;
  }

  async #read(): Promise<OpenIdClient.Configuration> {
    const oidc = await loadLibrary();
    const { issuer, clientId, clientSecret } = this.#settings;
    const url = new URL(issuer);
    const boundedFetch = (address: string, options: object) =>
      fetch(address, { ...options, dispatcher: this.#agent });
    const metadata = { client_secret: clientSecret, [oidc.clockTolerance]: CLOCK_TOLERANCE_S };
    const authenticate: OpenIdClient.ClientAuth = (server, ...rest) => {
      const methods = server.token_endpoint_auth_methods_supported ?? ['client_secret_basic'];
      const isBasic = methods.includes('client_secret_basic');
      return (isBasic ? oidc.ClientSecretBasic : oidc.ClientSecretPost)(clientSecret)(server, ...rest);
    };
    return oidc.discovery(url, clientId, metadata, authenticate, {
      [oidc.customFetch]: boundedFetch as object as OpenIdClient.CustomFetch,
      timeout: timeLimit(TIMEOUT_S),
      execute: [
        // Signatures of tokens are checked, although the tokens come directly from the provider.
        oidc.enableNonRepudiationChecks,
        ...(url.protocol === 'http:' ? [oidc.allowInsecureRequests] : []),
      ],
    });
  }
}

/** It goes by the codes of the provider and the library, since a message may quote a token. */
const refusalOf = (error: unknown): ProviderRefusal => {
  if (error instanceof ProviderRefusal) return error;
  const { error: said, code, cause } = error as Claims;
  const { claim, attribute } = ((cause as Claims | undefined)?.['cause'] ?? {}) as Claims;
  const { status, code: causeCode } = (cause ?? {}) as Claims;
  const details = { said, code, wrong: claim ?? attribute, status, cause: causeCode };
  if (said === 'access_denied') return new ProviderRefusal('CANCELLED', details);
  // The code was used before, or is too old.
  if (said === 'invalid_grant') return new ProviderRefusal('EXPIRED', details);
  const isAway = error instanceof TypeError || code === 'OAUTH_TIMEOUT' || Number(status) >= 500;
  return new ProviderRefusal(isAway ? 'AWAY' : 'INVALID', details);
};
