import { generateKeyPairSync, randomBytes, sign } from 'node:crypto';
import { createServer, type IncomingMessage, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { Provider } from 'oidc-provider';
import { expect, onTestFinished } from 'vitest';
import { type AdminCaller, adminCaller, cookieFrom } from './admin.ts';
import type { ApiResponse, Harness } from './harness.ts';

// Identity providers until the test ends: a real one (oidc-provider), and a scripted one.

const CLIENT = { id: 'handback', secret: 'the secret of the client' };
const CALLBACK = '/admin/api/session/oidc/callback';

const envFor = (issuer: string) => ({
  OIDC_ISSUER: issuer,
  OIDC_CLIENT_ID: CLIENT.id,
  OIDC_CLIENT_SECRET: CLIENT.secret,
  OIDC_NAME: 'Example SSO',
});

const listen = async (handle: RequestListener) => {
  const server = createServer(handle);
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const stop = () =>
    new Promise<void>((closed) => {
      server.close(() => closed());
      server.closeAllConnections();
    });
  onTestFinished(stop);
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, stop };
};

// --- the scripted one ---

type Claims = Record<string, unknown>;

const encoded = (part: object): string => Buffer.from(JSON.stringify(part)).toString('base64url');
const newKey = () => generateKeyPairSync('rsa', { modulusLength: 2048 });
let sharedKey: ReturnType<typeof newKey> | null = null;

const signed = (claims: Claims, key: ReturnType<typeof newKey>): string => {
  const content = `${encoded({ alg: 'RS256', kid: 'test' })}.${encoded(claims)}`;
  return `${content}.${sign('sha256', Buffer.from(content), key.privateKey).toString('base64url')}`;
};

type Said = { status: number; body: string } | null;

export const scriptedProvider = async () => {
  sharedKey ??= newKey();
  const key = sharedKey;
  const tokens = new Map<string, Claims>();
  const said = {
    /** Responses instead of the correct ones, by path. */
    instead: {} as Record<string, Said>,
    /** The response of the userinfo endpoint; null: there is none. */
    userinfo: null as Claims | null,
    /** Signs tokens; another one's signatures are not valid. */
    signingKey: key,
    requests: [] as string[],
    tokenRequests: [] as { authorization: string | undefined; body: URLSearchParams }[],
  };
  const responses: Record<string, (request: IncomingMessage) => Promise<object> | object> = {
    '/.well-known/openid-configuration': () => ({
      issuer: url,
      authorization_endpoint: `${url}/auth`,
      token_endpoint: `${url}/token`,
      jwks_uri: `${url}/jwks`,
      response_types_supported: ['code'],
      subject_types_supported: ['public'],
      id_token_signing_alg_values_supported: ['RS256'],
      ...(said.userinfo ? { userinfo_endpoint: `${url}/userinfo` } : {}),
    }),
    '/jwks': () => ({ keys: [{ ...key.publicKey.export({ format: 'jwk' }), kid: 'test', alg: 'RS256' }] }),
    '/token': async (request) => {
      const body = new URLSearchParams(await text(request));
      said.tokenRequests.push({ authorization: request.headers.authorization, body });
      const code = body.get('code') ?? '';
      const claims = tokens.get(code);
      tokens.delete(code);
      return claims
        ? {
            access_token: 'access',
            token_type: 'Bearer',
            expires_in: 60,
            id_token: signed(claims, said.signingKey),
          }
        : { error: 'invalid_grant' };
    },
    '/userinfo': () => said.userinfo ?? {},
  };
  const { url, stop } = await listen(async (request, response) => {
    const path = request.url ?? '';
    said.requests.push(path);
    const instead = said.instead[path];
    if (instead === null) return;
    if (instead)
      return response.writeHead(instead.status, { 'content-type': 'application/json' }).end(instead.body);
    const body = await responses[path]?.(request);
    response
      .writeHead(body && !('error' in body) ? 200 : 400, { 'content-type': 'application/json' })
      .end(JSON.stringify(body ?? { error: 'not_found' }));
  });
  return Object.assign(said, {
    issuer: url,
    env: envFor(url),
    stop,
    /** A code for a person who is sent there with this address. */
    codeFor(address: URL, claims: Claims): string {
      const code = randomBytes(8).toString('hex');
      const now = Math.floor(Date.now() / 1000);
      const nonce = address.searchParams.get('nonce');
      tokens.set(code, { iss: url, aud: CLIENT.id, iat: now, exp: now + 300, nonce, ...claims });
      return code;
    },
  });
};
export type ScriptedProvider = Awaited<ReturnType<typeof scriptedProvider>>;

export interface Departure {
  address: URL;
  /** What the browser keeps meanwhile: `handback_provider=…`. */
  cookie: string;
}

/** Presses "Sign in with …", or "Confirm with …" as a person who is signed in. */
export const leave = async (
  caller: AdminCaller,
  { proof = false, ...body }: { proof?: boolean; to?: string; newWindow?: boolean } = {},
): Promise<Departure> => {
  const response = await caller.post(proof ? '/session/oidc/proof' : '/session/oidc', body);
  expect(response, JSON.stringify(response.body)).toHaveStatus(200);
  return { address: new URL(response.body.url), cookie: cookieFrom(response) };
};

interface Arrival {
  /** The parameters of the sign-in page. */
  said: Record<string, string>;
  /** The new session's cookie; null where there is none. */
  session: string | null;
  response: ApiResponse;
}

/** The browser returns with these parameters. */
export const comeBack = async (
  t: Harness,
  parameters: Record<string, string> | URLSearchParams,
  cookie: string | null,
  ip?: string,
): Promise<Arrival> => {
  const response = await adminCaller(t, cookie).get(
    `/session/oidc/callback?${new URLSearchParams(parameters)}`,
    ip === undefined ? {} : { ip },
  );
  const { pathname, searchParams } = new URL(response.headers.get('location') ?? '/', `${t.url}${CALLBACK}`);
  if (response.status === 303) expect(pathname).toBe('/admin/sign-in');
  const cookies = response.headers.getSetCookie().map((each) => each.split(';')[0] ?? '');
  const session = cookies.find((each) => each.includes('handback_session=')) ?? null;
  return { said: Object.fromEntries(searchParams), session, response };
};

/** Signs in through the provider, as a user with these claims. */
export const throughProvider = async (
  t: Harness,
  provider: ScriptedProvider,
  claims: Claims,
  departure?: Departure,
): Promise<Arrival> => {
  const { address, cookie } = departure ?? (await leave(adminCaller(t)));
  const state = address.searchParams.get('state') ?? '';
  return comeBack(t, { code: provider.codeFor(address, claims), state }, cookie);
};

// --- the real one ---

const FORM = (
  action: string,
) => `<!doctype html><html lang="en"><title>Example SSO</title><h1>Example SSO</h1>
<form method="post" action="${action}"><label>Account <input name="login"></label><button>Continue</button></form></html>`;

interface Account {
  email: string;
  email_verified: boolean;
  name?: string;
}

/** A site other than the service's, so that a browser does not send Strict cookies. */
const elsewhere = (url: string): string => url.replace('127.0.0.1', 'localhost');

/** People sign in there with the names of these accounts, and are asked for nothing else. */
export const realProvider = async (accounts: Record<string, Account>) => {
  let provider: Provider | null = null;
  const { url: local, stop } = await listen(async (request, response) => {
    if (!provider) return response.writeHead(503).end();
    if (!request.url?.startsWith('/interaction/')) return provider.callback()(request, response);
    if (request.method !== 'POST')
      return response.writeHead(200, { 'content-type': 'text/html' }).end(FORM(request.url));
    const accountId = new URLSearchParams(await text(request)).get('login') ?? '';
    await provider.interactionFinished(request, response, { login: { accountId } });
  });
  const url = elsewhere(local);
  /** Registers the service at this address. */
  const register = (serviceUrl: string): void => {
    provider = new Provider(url, {
      clients: [
        {
          client_id: CLIENT.id,
          client_secret: CLIENT.secret,
          redirect_uris: [`${serviceUrl}${CALLBACK}`],
        },
      ],
      claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name'] },
      cookies: { keys: ['a key of the tests'] },
      features: { devInteractions: { enabled: false } },
      interactions: { url: (_ctx: object, { uid }: { uid: string }) => `/interaction/${uid}` },
      findAccount: (_ctx: object, accountId: string) =>
        accounts[accountId] && {
          accountId,
          claims: async () => ({ sub: accountId, ...accounts[accountId] }),
        },
      // No consent page: it is the shop's own provider.
      async loadExistingGrant(ctx: {
        oidc: { session: { accountId: string }; client: { clientId: string } };
      }) {
        const { session, client } = ctx.oidc;
        const grant = new (provider as Provider).Grant({
          accountId: session.accountId,
          clientId: client.clientId,
        });
        grant.addOIDCScope('openid email profile');
        await grant.save();
        return grant;
      },
    });
  };
  return { issuer: url, env: envFor(url), stop, register };
};
