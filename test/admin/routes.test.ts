import { describe, expect, it } from 'vitest';
import { ADMIN_BASE_PATH } from '../../contract/admin-people.ts';
import type { TradeReturnAction } from '../../contract/lifecycle.ts';
import { createClient } from '../../src/api-clients/actions.ts';
import { OPERATOR } from '../../src/caller.ts';
import { createView } from '../../src/saved-views/actions.ts';
import { moveTradeReturn } from '../../src/trade-returns/actions.ts';
import { type AdminCaller, adminCaller, newPerson, newUser, PASSWORD } from '../support/admin.ts';
import { expectError, newRepair, newTradeReturn, staffOf } from '../support/api.ts';
import { repairBody, tradeBody } from '../support/bodies.ts';
import { type Harness, sharedHarness } from '../support/harness.ts';

const harness = sharedHarness();

// Who may call what: every route of the admin API, for everybody. A route that is not in this table fails the test.

/** What nobody, STAFF, an ADMIN of the shop and an ADMIN of another shop are answered with. */
type Statuses = [nobody: number, staff: number, admin: number, stranger: number];

interface Route {
  expected: Statuses;
  /** Or what makes one, where it must be another each time. */
  body?: unknown;
  query?: string;
  endsSession?: true;
  /** Of refusals that are not about the role. */
  codes?: Record<number, string>;
  /** Makes what the address names in the first shop, anew for each call. */
  id?: (t: Harness) => Promise<string>;
}

const forAll = (status: number): Statuses => [status, status, status, status];
const forStaff = (status: number, stranger = status): Statuses => [401, status, status, stranger];
const forAdmins = (status: number, stranger = status): Statuses => [401, 403, status, stranger];

const aUser = async (t: Harness) => (await newUser(t, { role: 'STAFF' })).id;
const aClient = async (t: Harness) =>
  (await createClient(t.ctx, OPERATOR, { shopId: t.shop.id, name: 'ERP', webhookUrl: null })).id;
const aRepair = async (t: Harness) => (await newRepair(t)).id;
const aReturn =
  (...moves: TradeReturnAction[]) =>
  async (t: Harness) => {
    const { id } = await newTradeReturn(t);
    for (const move of moves) await moveTradeReturn(t.ctx, staffOf(t), id, move, null);
    return id;
  };

const aSharedView = async (t: Harness) => {
  const owner = { id: (await newUser(t, { role: 'ADMIN' })).id, shopId: t.shop.id, role: 'ADMIN' as const };
  const view = { kind: 'OFFLINE_REPAIR' as const, name: 'Ours', search: {}, shared: true };
  return (await createView(t.ctx, owner, view)).id;
};

const repair = (body?: unknown): Route => ({ expected: forStaff(200, 404), id: aRepair, body });
const tradeReturn = (body: unknown, ...moves: TradeReturnAction[]): Route => ({
  expected: forStaff(200, 404),
  id: aReturn(...moves),
  body,
});
const client = (body?: unknown): Route => ({ expected: forAdmins(200, 404), id: aClient, body });

let emails = 0;
const newEmail = () => {
  emails += 1;
  return `new-${emails}@example.com`;
};

const ANYBODY = { email: 'anybody@example.com', password: PASSWORD };

const TABLE: Record<string, Route> = {
  'POST /session': { expected: forAll(200), body: ANYBODY },
  'GET /session': { expected: forStaff(200) },
  'GET /sign-in-options': { expected: forAll(200) },
  'POST /password-links': { expected: forAll(202), body: () => ({ email: newEmail() }) },
  'POST /links/check': { expected: forAll(410), codes: { 410: 'LINK_OVER' }, body: { token: 'spent' } },
  'POST /links/use': {
    expected: forAll(410),
    codes: { 410: 'LINK_OVER' },
    body: { token: 'spent', password: PASSWORD },
  },
  'GET /session/second-factor': { expected: forStaff(200) },
  'POST /session/second-factor/confirm': {
    expected: forStaff(409),
    codes: { 409: 'SECOND_FACTOR_OFF' },
    body: { code: '123456' },
  },
  'POST /session/second-factor': { expected: forStaff(201) },
  'POST /session/second-factor/recovery-codes': {
    expected: forStaff(409),
    codes: { 409: 'SECOND_FACTOR_OFF' },
    body: { currentPassword: PASSWORD },
  },
  'POST /session/second-factor/turn-off': {
    expected: forStaff(409),
    codes: { 409: 'SECOND_FACTOR_OFF' },
    body: { code: '123456' },
  },
  'GET /sign-in-rules': { expected: forAdmins(200) },
  'PUT /sign-in-rules': { expected: forAdmins(200), body: { secondFactorRequired: false } },
  'POST /set-up/check': {
    expected: forAll(403),
    codes: { 403: 'SET_UP_OVER' },
    body: { token: 'spent' },
  },
  'POST /set-up': {
    expected: forAll(403),
    codes: { 403: 'SET_UP_OVER' },
    body: { token: 'spent', shopName: 'S', email: 'a@example.com', password: 'long enough' },
  },
  'PUT /session/password': {
    expected: forStaff(200),
    body: { currentPassword: PASSWORD, newPassword: 'a better password' },
    endsSession: true,
  },
  'DELETE /session': { expected: forAll(204), endsSession: true },

  'GET /users': { expected: forAdmins(200) },
  'POST /users': {
    expected: forAdmins(201),
    body: () => ({ email: newEmail(), role: 'STAFF', password: PASSWORD }),
  },
  'PATCH /users/{id}': { expected: forAdmins(200, 404), id: aUser, body: { role: 'ADMIN' } },
  'POST /users/{id}/link': { expected: forAdmins(201, 404), id: aUser },
  'DELETE /users/{id}/second-factor': { expected: forAdmins(204, 404), id: aUser },
  'DELETE /users/{id}': { expected: forAdmins(204, 404), id: aUser },
  'GET /audit-log': { expected: forAdmins(200) },
  'GET /dangerous-goods': { expected: forAdmins(200) },
  'PUT /dangerous-goods': { expected: forAdmins(200), body: { rules: ['ACID'] } },

  'GET /shop-settings': { expected: forStaff(200) },
  'PUT /shop-settings': { expected: forAdmins(200), body: { currency: 'EUR' } },

  'GET /clients': { expected: forAdmins(200) },
  'POST /clients': { expected: forAdmins(201), body: { name: 'Desk' } },
  'PATCH /clients/{id}': client({ name: 'Desk' }),
  'POST /clients/{id}/revoke': client({}),
  'POST /clients/{id}/replace': { expected: forAdmins(201, 404), id: aClient, body: {} },
  'GET /clients/{id}/deliveries': client(),
  'POST /clients/{id}/test-event': {
    expected: forAdmins(409, 404),
    id: aClient,
    body: {},
    codes: { 409: 'NO_WEBHOOK' },
  },

  'GET /overview': { expected: forStaff(200) },
  'GET /people': { expected: forStaff(200) },
  'GET /stores': { expected: forStaff(200) },
  'GET /target-days': { expected: forStaff(200) },
  'PUT /target-days': {
    expected: forAdmins(200),
    body: { targets: [{ status: 'OFFLINE_REPAIR', days: 3 }] },
  },
  'GET /views': { expected: forStaff(200) },
  'POST /views': {
    expected: forStaff(201),
    body: { kind: 'OFFLINE_REPAIR', name: 'Mine', search: { assignee: 'me' } },
  },
  'PATCH /views/{id}': { expected: forAdmins(200, 404), id: aSharedView, body: { name: 'Ours' } },
  'DELETE /views/{id}': { expected: forAdmins(204, 404), id: aSharedView },
  'GET /search': { expected: forStaff(200), query: '?q=RMA' },

  'GET /offline-repairs': { expected: forStaff(200) },
  'POST /offline-repairs': { expected: forStaff(201), body: repairBody() },
  'GET /offline-repairs/{id}': repair(),
  'GET /offline-repairs/{id}/timeline': repair(),
  'POST /offline-repairs/{id}/tracking': repair({ trackingNumber: 'JD014', carrierName: 'DHL' }),
  'POST /offline-repairs/{id}/begin-diagnostics': repair({}),
  'POST /offline-repairs/{id}/begin-repair': repair({}),
  'POST /offline-repairs/{id}/resolve': repair({ offlineDisposition: 'WRITE_OFF' }),
  'POST /offline-repairs/{id}/close': repair({}),
  'POST /offline-repairs/{id}/assign': repair({ assigneeId: null }),
  'POST /offline-repairs/{id}/correct': repair({ customerName: 'Ada P.' }),
  'GET /offline-repairs/{id}/related': repair(),
  'POST /offline-repairs/{id}/notes': repair({ note: 'Called the customer' }),

  'GET /trade-returns': { expected: forStaff(200) },
  'POST /trade-returns': { expected: forStaff(201), body: tradeBody() },
  'GET /trade-returns/{id}': tradeReturn(undefined),
  'GET /trade-returns/{id}/timeline': tradeReturn(undefined),
  'POST /trade-returns/{id}/assign': tradeReturn({ assigneeId: null }),
  'POST /trade-returns/{id}/correct': tradeReturn({ customerName: 'Nora W.' }),
  'GET /trade-returns/{id}/related': tradeReturn(undefined),
  'POST /trade-returns/{id}/approve': tradeReturn({}),
  'POST /trade-returns/{id}/reject': tradeReturn({}),
  'POST /trade-returns/{id}/receive': tradeReturn({}, 'approve'),
  'POST /trade-returns/{id}/request-credit': tradeReturn({}, 'approve', 'receive'),
  'POST /trade-returns/{id}/resolve': tradeReturn({}, 'approve', 'receive'),
  'POST /trade-returns/{id}/notes': tradeReturn({ note: 'Called the company' }),
};

/** Every address below the admin API that the router knows, with the methods that it takes. */
const registered = async (t: Harness): Promise<string[]> => {
  const parents: string[] = [];
  const paths: string[] = [];
  for (const line of t.app.printRoutes({ commonPrefix: false }).split('\n')) {
    const [, indent = '', part = '', methods] = /^([│ ]*)[└├]── (\S*)(?: \((.*)\))?$/.exec(line) ?? [];
    if (!part) continue;
    parents.length = indent.length / 4;
    parents.push(part);
    if (methods) paths.push(parents.join(''));
  }
  const known = paths
    .filter((path) => path.startsWith(`${ADMIN_BASE_PATH}/`))
    .map((path) => path.slice(ADMIN_BASE_PATH.length));
  const names = await Promise.all(
    known.map(async (path) => {
      const answer = await adminCaller(t).send(path.replace(/:\w+/g, 'x'), { method: 'OPTIONS' });
      const methods = (answer.headers.get('allow') ?? '').split(', ').filter((method) => method !== 'HEAD');
      return methods.map((method) => `${method} ${path.replace(/:(\w+)/g, '{$1}')}`);
    }),
  );
  return names.flat().sort();
};

const OPEN_TO_ALL = ['GET /openapi.json'];

describe('the routes of the admin API', () => {
  it('are all in the table, and all in the OpenAPI document', async () => {
    const t = await harness();
    const all = await registered(t);
    expect(all).toEqual([...Object.keys(TABLE), ...OPEN_TO_ALL].sort());
    const { status, body } = await adminCaller(t).get('/openapi.json');
    expect(status).toBe(200);
    expect(body.openapi).toMatch(/^3\.1\./);
    const told = Object.entries(body.paths as Record<string, object>).flatMap(([path, operations]) =>
      Object.keys(operations).map((method) => `${method.toUpperCase()} ${path}`),
    );
    expect(told.sort()).toEqual(Object.keys(TABLE).sort());
  });

  it('stay out of the external document, and it out of theirs', async () => {
    const t = await harness();
    const external = JSON.stringify(t.app.swagger());
    for (const word of ['/admin', 'handback_session', 'SignIn', 'AuditEntry', 'ADMIN_REQUIRED'])
      expect(external).not.toContain(word);
    const own = JSON.stringify(t.app.adminSwagger());
    for (const word of ['X-Api-Key', 'PLAN_REQUIRED', 'RateLimit-Limit']) expect(own).not.toContain(word);
  });

  it('answer each person as the table says', async () => {
    const t = await harness();
    await newUser(t, ANYBODY);
    const { shop } = await t.addShop();
    const makePeople = async (): Promise<AdminCaller[]> => [
      adminCaller(t),
      await newPerson(t, { role: 'STAFF' }),
      await newPerson(t),
      await newPerson(t, { shop }),
    ];
    const usual = await makePeople();
    const seen: Record<string, number[]> = {};
    for (const [name, { id, body, query = '', endsSession, codes = {} }] of Object.entries(TABLE)) {
      const [method = '', template = ''] = name.split(' ');
      const statuses: number[] = [];
      for (const person of endsSession ? await makePeople() : usual) {
        const path = `${template.replace('{id}', id ? await id(t) : '')}${query}`;
        const answer = await person.send(path, { method, body: typeof body === 'function' ? body() : body });
        if (answer.status >= 400)
          expectError(answer, answer.status, { 403: 'ADMIN_REQUIRED', ...codes }[answer.status]);
        statuses.push(answer.status);
      }
      seen[name] = statuses;
    }
    expect(seen).toEqual(
      Object.fromEntries(Object.entries(TABLE).map(([name, { expected }]) => [name, expected])),
    );
  });
});
