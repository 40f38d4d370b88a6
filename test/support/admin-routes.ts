import type { TradeReturnAction } from '../../contract/lifecycle.ts';
import { createClient } from '../../src/api-clients/actions.ts';
import { OPERATOR } from '../../src/audit/store.ts';
import { createView } from '../../src/saved-views/actions.ts';
import { removeUser } from '../../src/staff/users.ts';
import { newUser, PASSWORD } from './admin.ts';
import { newRepair, newTradeReturn, UNKNOWN_ID } from './api.ts';
import { repairBody, tradeBody } from './bodies.ts';
import type { Harness } from './harness.ts';
import { moveThrough } from './trade-moves.ts';

// Every route of the admin API: who may call it, a body that it takes, and how to make what its address names.

/** What a caller without a session, STAFF, an ADMIN of the shop and an ADMIN of another shop are answered with. */
type Statuses = [signedOut: number, staff: number, admin: number, stranger: number];

interface AdminRoute {
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
const aFormerEmployee = async (t: Harness) => {
  const id = await aUser(t);
  await removeUser(t.ctx, { shop: t.shop, actor: OPERATOR }, id);
  return id;
};
const aClient = async (t: Harness) =>
  (await createClient(t.ctx, OPERATOR, { shopId: t.shop.id, name: 'ERP', webhookUrl: null })).id;
const aRepair = async (t: Harness) => (await newRepair(t)).id;
const aReturn =
  (...moves: TradeReturnAction[]) =>
  async (t: Harness) => {
    const { id } = await newTradeReturn(t);
    await moveThrough(t, id, moves);
    return id;
  };

const aSharedView = async (t: Harness) => {
  const { id } = await newUser(t, { role: 'ADMIN' });
  const owner = { user: { id, role: 'ADMIN' as const }, caller: { shop: t.shop } };
  const view = { kind: 'OFFLINE_REPAIR' as const, name: 'Ours', search: {}, shared: true };
  return (await createView(t.ctx, owner, view)).id;
};

const repair = (body?: unknown): AdminRoute => ({ expected: forStaff(200, 404), id: aRepair, body });
const tradeReturn = (body: unknown, ...moves: TradeReturnAction[]): AdminRoute => ({
  expected: forStaff(200, 404),
  id: aReturn(...moves),
  body,
});
const client = (body?: unknown): AdminRoute => ({ expected: forAdmins(200, 404), id: aClient, body });

const refused = (expected: Statuses, status: number, code: string, body?: unknown): AdminRoute => ({
  expected,
  codes: { [status]: code },
  body,
});
const withoutFactor = (body: unknown) => refused(forStaff(409), 409, 'SECOND_FACTOR_OFF', body);
const withSpentLink = (body: object) =>
  refused(forAll(410), 410, 'LINK_EXPIRED', { token: 'spent', ...body });
const afterSetUp = (body: object) => refused(forAll(409), 409, 'ALREADY_SET_UP', { token: 'spent', ...body });

let emails = 0;
const newEmail = () => {
  emails += 1;
  return `new-${emails}@example.com`;
};

export const ANYBODY = { email: 'anybody@example.com', password: PASSWORD };

const UNKNOWN_CUSTOMER = { email: 'unknown@example.com' };
const NOT_FORGOTTEN = { offlineRepairMonths: null, tradeReturnMonths: null };

export const ADMIN_ROUTES: Record<string, AdminRoute> = {
  'POST /session': { expected: forAll(200), body: ANYBODY },
  'GET /session': { expected: forStaff(200) },
  'GET /sign-in-options': { expected: forAll(200) },
  'POST /password-links': { expected: forAll(202), body: () => ({ email: newEmail() }) },
  'POST /links/check': withSpentLink({}),
  'POST /links/use': withSpentLink({ password: PASSWORD }),
  'GET /session/second-factor': { expected: forStaff(200) },
  'POST /session/second-factor/confirm': withoutFactor({ code: '123456' }),
  'POST /session/second-factor': { expected: forStaff(201) },
  'POST /session/second-factor/recovery-codes': withoutFactor({ code: '123456' }),
  'POST /session/second-factor/turn-off': withoutFactor({ code: '123456' }),
  'POST /session/oidc': refused(forAll(404), 404, 'NO_PROVIDER', {}),
  'POST /session/oidc/proof': refused(forStaff(404), 404, 'NO_PROVIDER', {}),
  'GET /session/oidc/callback': refused(forAll(404), 404, 'NO_PROVIDER'),
  'POST /session/proof': { expected: forStaff(204), body: { password: PASSWORD } },
  'PUT /session/email': {
    expected: forStaff(200),
    body: () => ({ currentPassword: PASSWORD, email: newEmail() }),
  },
  'GET /session/sessions': { expected: forStaff(200) },
  'DELETE /session/sessions': { expected: forStaff(204) },
  'DELETE /session/sessions/{id}': { expected: forStaff(404), id: async () => UNKNOWN_ID },
  'POST /exports': { expected: forStaff(204), body: { kind: 'OFFLINE_REPAIR', count: 3 } },
  'GET /sign-in-rules': { expected: forAdmins(200) },
  'PUT /sign-in-rules': { expected: forAdmins(200), body: { secondFactorRequired: false } },
  'POST /set-up/check': afterSetUp({}),
  'POST /set-up': afterSetUp({ shopName: 'S', email: 'a@example.com', password: 'long enough' }),
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
  'GET /former-employees': { expected: forAdmins(200) },
  'POST /former-employees/{id}/erase': {
    expected: forAdmins(204, 404),
    id: aFormerEmployee,
    body: { reason: 'Asked for it' },
  },
  'GET /audit-log': { expected: forAdmins(200) },
  'POST /customers/find': { expected: forAdmins(200), body: UNKNOWN_CUSTOMER },
  'POST /customers/export': { expected: forAdmins(200), body: UNKNOWN_CUSTOMER },
  'POST /customers/erase': { expected: forAdmins(200), body: { ...UNKNOWN_CUSTOMER, reason: 'A letter' } },
  'GET /forgetting': { expected: forAdmins(200) },
  'PUT /forgetting': { expected: forAdmins(200), body: NOT_FORGOTTEN },
  'POST /forgetting/count': { expected: forAdmins(200), body: NOT_FORGOTTEN },
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
  'GET /faults': { expected: forStaff(200), query: '?sku=KETTLE-17' },
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
  'PUT /offline-repairs/{id}/waiting-for': repair({ what: 'PART' }),
  'DELETE /offline-repairs/{id}/waiting-for': repair(),
  'GET /offline-repairs/{id}/related': repair(),
  'POST /offline-repairs/{id}/notes': repair({ note: 'Called the customer' }),

  'GET /trade-returns': { expected: forStaff(200) },
  'POST /trade-returns': { expected: forStaff(201), body: tradeBody() },
  'GET /trade-returns/{id}': tradeReturn(undefined),
  'GET /trade-returns/{id}/timeline': tradeReturn(undefined),
  'POST /trade-returns/{id}/assign': tradeReturn({ assigneeId: null }),
  'POST /trade-returns/{id}/correct': tradeReturn({ customerName: 'Nora W.' }),
  'PUT /trade-returns/{id}/waiting-for': tradeReturn({ what: 'CUSTOMER' }),
  'DELETE /trade-returns/{id}/waiting-for': tradeReturn(undefined),
  'GET /trade-returns/{id}/related': tradeReturn(undefined),
  'POST /trade-returns/{id}/approve': tradeReturn({}),
  'POST /trade-returns/{id}/reject': tradeReturn({}),
  'POST /trade-returns/{id}/receive': tradeReturn({}, 'approve'),
  'POST /trade-returns/{id}/request-credit': tradeReturn({}, 'approve', 'receive'),
  'POST /trade-returns/{id}/resolve': tradeReturn({}, 'approve', 'receive'),
  'POST /trade-returns/{id}/notes': tradeReturn({ note: 'Called the company' }),
};
