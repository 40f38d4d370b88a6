import { setTimeout as pause } from 'node:timers/promises';
import { hash } from '@node-rs/argon2';
import { expect, vi } from 'vitest';
import { ADMIN_BASE_PATH, type UserRole } from '../../contract/admin-people.ts';
import { OPERATOR } from '../../src/audit/store.ts';
import type { Shop } from '../../src/shops/plans.ts';
import { rememberAddress } from '../../src/staff/sessions.ts';
import { addUser } from '../../src/staff/users.ts';
import type { ApiResponse, Harness, SendOptions } from './harness.ts';
import { exchange, newAddress } from './http.ts';
import { openApiChecker } from './openapi-check.ts';

// People of a shop, calling the admin API over HTTP as the admin app does. Every exchange is held against its document.

/** A header given as null is not sent. */
type AdminSendOptions = Omit<SendOptions, 'headers' | 'key'> & {
  headers?: Record<string, string | null>;
  /** Retries a sign-in until the limit for unknown browsers allows it; only while the clock runs. */
  waitsForStrangers?: boolean;
};

const TURN_MS = 100;
const isStrangersTurn = (path: string, { status, body, headers }: ApiResponse): boolean =>
  path === '/session' && status === 429 && body.code === 'RATE_LIMITED' && headers.get('retry-after') === '1';

/** The admin API, with a person's cookie or with none. */
export type AdminCaller = ReturnType<typeof adminCaller>;

export interface Person extends AdminCaller {
  id: string;
  email: string;
  password: string;
  role: UserRole;
  shop: Shop;
  /** What the browser sends along: `handback_session=…`. */
  cookie: string;
}

let checker: ReturnType<typeof openApiChecker> | null = null;
const checkerOf = ({ app }: Harness) => {
  checker ??= openApiChecker(app.adminSwagger(), ADMIN_BASE_PATH);
  return checker;
};

const READS = new Set(['GET', 'HEAD', 'OPTIONS']);

/** With this cookie, or without one. */
export const adminCaller = (t: Harness, cookie: string | null = null) => {
  const send = async (
    path: string,
    {
      method = 'GET',
      body,
      headers = {},
      ip = newAddress('172.16'),
      unchecked = false,
      waitsForStrangers = !vi.isMockFunction(performance.now),
    }: AdminSendOptions = {},
  ): Promise<ApiResponse> => {
    const target = `${ADMIN_BASE_PATH}${path}`;
    const given: Record<string, string | null> = {
      'x-forwarded-for': ip,
      cookie,
      'content-type': READS.has(method) ? null : 'application/json',
      ...headers,
    };
    const sent = Object.entries(given).filter((entry): entry is [string, string] => entry[1] !== null);
    const ask = () => exchange(`${t.url}${target}`, { method, headers: Object.fromEntries(sent), body });
    let response = await ask();
    while (waitsForStrangers && isStrangersTurn(path, response)) {
      await pause(TURN_MS);
      response = await ask();
    }
    if (method !== 'HEAD' && !unchecked)
      checkerOf(t)({
        method,
        path: target,
        sent: response.status < 300 && typeof body !== 'string' ? body : undefined,
        status: response.status,
        headers: response.headers,
        received: response.body,
      });
    return response;
  };
  const writing =
    (method: string) =>
    (path: string, body?: unknown, options: AdminSendOptions = {}): Promise<ApiResponse> =>
      send(path, { method, body, ...options });
  return {
    send,
    get: send,
    post: writing('POST'),
    put: writing('PUT'),
    patch: writing('PATCH'),
    delete: (path: string, options: AdminSendOptions = {}) => send(path, { method: 'DELETE', ...options }),
  };
};

export const cookieFrom = ({ headers }: ApiResponse): string =>
  headers.getSetCookie()[0]?.split(';')[0] ?? '';

/** The same for the device cookie. */
export const deviceFrom = ({ headers }: ApiResponse): string =>
  headers.getSetCookie()[1]?.split(';')[0] ?? '';

export const PASSWORD = 'correct horse battery';

/** A hash that is cheap to check, since tests sign in often. */
const cheapHash = (password: string): Promise<string> =>
  hash(password.normalize('NFKC'), { memoryCost: 64, timeCost: 1 });

interface NewPerson {
  role?: UserRole;
  shop?: Shop;
  email?: string;
  name?: string | null;
  password?: string;
  /** For tests of the hash itself. */
  hashed?: (password: string) => Promise<string>;
}

let people = 0;
export const newUser = async (
  t: Harness,
  {
    role = 'ADMIN',
    shop = t.shop,
    email,
    name = null,
    password = PASSWORD,
    hashed = cheapHash,
  }: NewPerson = {},
) => {
  people += 1;
  const address = email ?? `person-${people}@example.com`;
  const given = { shopId: shop.id, email: address, name, role, passwordHash: await hashed(password) };
  const user = await t.ctx.db.transaction().execute((trx) => addUser(t.ctx, trx, OPERATOR, given));
  return { id: user.id, email: user.email, role, shop, password };
};
export const newPerson = async (t: Harness, options: NewPerson = {}): Promise<Person> =>
  signInAs(t, await newUser(t, options));

export const signInAs = async (
  t: Harness,
  user: Omit<Person, keyof AdminCaller | 'cookie'>,
): Promise<Person> => {
  const { id, email, password } = user;
  // From a known address: unknown ones share ten sign-ins a second.
  const ip = newAddress('172.16');
  await t.ctx.db.transaction().execute((trx) => rememberAddress(t.ctx, trx, id, ip));
  const response = await adminCaller(t).post('/session', { email, password }, { ip });
  expect(response).toHaveStatus(200);
  const cookie = cookieFrom(response);
  return { ...user, cookie, ...adminCaller(t, cookie) };
};
