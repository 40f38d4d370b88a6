import { connect } from 'node:net';
import { expect, onTestFinished, vi } from 'vitest';
import { CreateOfflineRepair } from '../../contract/offline-repair.ts';
import { CreateTradeReturn } from '../../contract/trade-return.ts';
import { offlineRepairs, tradeReturns } from '../../src/returns/actions.ts';
import type { Caller } from '../../src/shops/plans.ts';
import { enqueueTest } from '../../src/webhooks/outbox.ts';
import { repairBody, tradeBody } from './bodies.ts';
import { type ApiResponse, countRows, type Harness, type RowCounts, type SendOptions } from './harness.ts';

// What the API tests share: the list of endpoints, errors, a standing clock, rows, sockets.

export const UUID7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
export const ISO = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
/** Well-formed, but of nothing. */
export const UNKNOWN_ID = '019a8c1e-7a54-7cc1-9a3e-5b1f0c7d2e44';

export const KINDS = ['offline-repairs', 'trade-returns'] as const;
export type Kind = (typeof KINDS)[number];
export const bodyOf: Record<Kind, (more?: Record<string, unknown>) => object> = {
  'offline-repairs': repairBody,
  'trade-returns': tradeBody,
};
/** One RMA of each kind and a delivery, so that every endpoint can be given an id of its own kind. */
export type Ids = Record<Kind, string> & { deliveries?: string };

/** A body that each POST endpoint takes, and one that it refuses. */
export const BODIES: Record<string, { good: unknown; bad: unknown }> = {
  '/offline-repairs': { good: repairBody(), bad: { orderNumber: 1 } },
  '/offline-repairs/dry-run': { good: repairBody(), bad: { orderNumber: 1 } },
  '/offline-repairs/{id}/tracking': {
    good: { trackingNumber: 'JD0146000034', carrierName: 'DHL' },
    bad: { trackingNumber: 1 },
  },
  '/offline-repairs/{id}/begin-diagnostics': { good: { notes: 'Opened' }, bad: { notes: 1 } },
  '/offline-repairs/{id}/begin-repair': {
    good: { repairNotes: 'New heating element', assignedToId: 'tech-12' },
    bad: { assignedToId: 1 },
  },
  '/offline-repairs/{id}/resolve': {
    good: { offlineDisposition: 'WRITE_OFF', notes: 'Beyond repair' },
    bad: { offlineDisposition: 'BURN' },
  },
  '/offline-repairs/{id}/close': { good: {}, bad: { reason: 'done' } },
  '/trade-returns': { good: tradeBody(), bad: { items: [] } },
  '/trade-returns/dry-run': { good: tradeBody(), bad: { items: [] } },
  '/trade-returns/{id}/approve': { good: { note: 'Agreed' }, bad: { note: 1 } },
  '/trade-returns/{id}/reject': { good: { note: 'Too late' }, bad: { note: 1 } },
  '/trade-returns/{id}/receive': { good: {}, bad: { note: 1 } },
  '/trade-returns/{id}/request-credit': { good: {}, bad: { note: 1 } },
  '/trade-returns/{id}/resolve': { good: {}, bad: { note: 1 } },
  '/erasures': { good: { customerEmail: 'not.here@example.com' }, bad: { customerEmail: 1 } },
};

export interface Endpoint {
  name: string;
  template: string;
  kind: Kind;
  method: string;
  hasId: boolean;
  isCreation: boolean;
  isDryRun: boolean;
  /** What a client needs to call it, as its description says; null: nothing, it only reads. */
  right: string | null;
  good: unknown;
  bad: unknown;
  /** With the id of the endpoint's kind, or with one text whatever the kind. */
  path(ids: Ids | string): string;
}

/** Every endpoint that a client may call with the rights of a new one. */
export const endpoints = (t: Harness): Endpoint[] =>
  allEndpoints(t).filter(({ right }) => right === null || right === 'write');

/** Every endpoint of the OpenAPI document, so that a new one cannot be forgotten: without a body here it fails. */
export const allEndpoints = (t: Harness): Endpoint[] => {
  const { paths } = t.app.swagger() as { paths: Record<string, Record<string, { description?: string }>> };
  return Object.entries(paths).flatMap(([template, operations]) =>
    Object.entries(operations).map(([verb, { description = '' }]) => {
      const method = verb.toUpperCase();
      const bodies = BODIES[template];
      if (method !== 'GET' && !bodies) throw new Error(`no test body for ${method} ${template}`);
      const hasId = template.includes('{id}');
      // What is about no kind in particular takes no id of one either.
      const kind = KINDS.find((each) => template.split('/')[1] === each) ?? 'offline-repairs';
      return {
        name: `${method} ${template}`,
        template,
        kind,
        method,
        hasId,
        isCreation: template === `/${kind}` && method === 'POST',
        isDryRun: template === `/${kind}/dry-run`,
        right: /Needs the right `([\w-]+)`/.exec(description)?.[1] ?? null,
        good: method === 'GET' ? undefined : bodies?.good,
        bad: method === 'GET' ? undefined : bodies?.bad,
        /** With the id of the endpoint's kind, or with one text whatever the kind. */
        path: (ids: Ids | string) =>
          template.replace('{id}', typeof ids === 'string' ? ids : idFor(template, ids)),
      };
    }),
  );
};

const idFor = (template: string, ids: Ids): string => ids[template.split('/')[1] as keyof Ids] ?? UNKNOWN_ID;

/** What each endpoint answers to the same kind of call, by the endpoint's name. */
export const askAll = async <Result>(
  all: Endpoint[],
  ask: (endpoint: Endpoint) => Promise<Result>,
): Promise<Record<string, Result>> => {
  const results: Record<string, Result> = {};
  for (const endpoint of all) results[endpoint.name] = await ask(endpoint);
  return results;
};

export const call = (
  t: Harness,
  { method, path, good }: Endpoint,
  ids: Ids | string,
  options: SendOptions = {},
): Promise<ApiResponse> => t.send(path(ids), { method, body: good, ...options });

/** The errors of a 400, field → rule. */
export const rulesOf = (response: ApiResponse): Record<string, string> => {
  expect(response).toFailWith(400);
  return Object.fromEntries(
    (response.body.errors ?? []).map(({ field, rule }: { field: string; rule: string }) => [field, rule]),
  );
};

/** Created by a program of the shop, or by the person who is given. */
export const newRma = async (
  by: Pick<Harness, 'post'>,
  kind: Kind,
  more: Record<string, unknown> = {},
  options: SendOptions = {},
): Promise<ApiResponse['body']> => {
  const response = await by.post(`/${kind}`, bodyOf[kind](more), options);
  expect(response).toHaveStatus(201);
  return response.body;
};
export const newRepair = (by: Pick<Harness, 'post'>, more?: Record<string, unknown>, options?: SendOptions) =>
  newRma(by, 'offline-repairs', more, options);
export const newTradeReturn = (
  by: Pick<Harness, 'post'>,
  more?: Record<string, unknown>,
  options?: SendOptions,
) => newRma(by, 'trade-returns', more, options);

const idsOf = async (make: (kind: Kind) => Promise<{ id: string }>): Promise<Ids> => ({
  'offline-repairs': (await make('offline-repairs')).id,
  'trade-returns': (await make('trade-returns')).id,
});
export const makeIds = async (t: Harness, options: SendOptions = {}): Promise<Ids> => ({
  ...(await idsOf((kind) => newRma(t, kind, {}, options))),
  deliveries: (await enqueueTest(t.ctx.db, t.client.id, t.ctx.clock.now())).id,
});

/** A person of the shop, as the admin app calls on their behalf. */
export const staffOf = ({ shop }: Pick<Harness, 'shop'>, actor: Partial<Caller['actor']> = {}): Caller => ({
  shop,
  actor: { type: 'USER', id: UNKNOWN_ID, name: 'Grace', ...actor },
});

/** An RMA that a person of the shop made, as the admin app does. */
export const newStaffRma = async (t: Harness, kind: Kind, more: Record<string, unknown> = {}) => {
  const { body } =
    kind === 'offline-repairs'
      ? await offlineRepairs.create(t.ctx, staffOf(t), CreateOfflineRepair.parse(repairBody(more)))
      : await tradeReturns.create(t.ctx, staffOf(t), CreateTradeReturn.parse(tradeBody(more)));
  return body;
};
export const newStaffRepair = (t: Harness, more?: Record<string, unknown>) =>
  newStaffRma(t, 'offline-repairs', more);
export const makeStaffIds = (t: Harness): Promise<Ids> => idsOf((kind) => newStaffRma(t, kind));

/** Everything that requests of this test could have written. */
export const rowCounts = async ({ ctx, rowsBefore }: Harness): Promise<RowCounts> => {
  const now = Object.entries(await countRows(ctx)) as [keyof RowCounts, number][];
  return Object.fromEntries(now.map(([name, rows]) => [name, rows - rowsBefore[name]])) as RowCounts;
};

/** Time stands still until the test moves it, for the service's own clock and for its rate limits. */
export const stopClock = (startMs = Date.now()): { advance(ms: number): void; jump(ms: number): void } => {
  let nowMs = startMs;
  let jumpedMs = 0;
  const startedAt = performance.now();
  const spies = [
    vi.spyOn(Date, 'now').mockImplementation(() => nowMs + jumpedMs),
    vi.spyOn(performance, 'now').mockImplementation(() => startedAt + nowMs - startMs),
  ];
  onTestFinished(() => {
    for (const spy of spies) spy.mockRestore();
  });
  return {
    advance(ms) {
      nowMs += ms;
    },
    /** An operator sets the machine's clock: the time of day changes, and no time passes. */
    jump(ms) {
      jumpedMs += ms;
    },
  };
};

export const overSocket = async (url: string, bytes: string | Uint8Array): Promise<ApiResponse> => {
  const { hostname, port } = new URL(url);
  const text = await new Promise<string>((resolve, reject) => {
    const chunks: Buffer[] = [];
    const socket = connect(Number(port), hostname, () => socket.write(bytes));
    socket.on('data', (chunk) => chunks.push(chunk));
    socket.on('error', reject);
    socket.on('close', () => resolve(Buffer.concat(chunks).toString()));
  });
  const [head = '', body = ''] = text.split('\r\n\r\n');
  const [first = '', ...lines] = head.split('\r\n');
  const headers = new Headers(
    lines.map((line): [string, string] => [
      line.slice(0, line.indexOf(':')),
      line.slice(line.indexOf(':') + 1).trim(),
    ]),
  );
  const isJson = /json/.test(headers.get('content-type') ?? '');
  const [method = '', path = ''] = Buffer.from(bytes).toString('latin1').split(/[ \r]/, 2);
  const status = Number(first.split(' ')[1]);
  return { method, path, status, headers, body: isJson ? JSON.parse(body) : body };
};

export const leftOut = ({ logs }: Harness) =>
  logs.map((line) => JSON.parse(line)).filter(({ msg }) => /a row that cannot be read$/.test(msg));

/** What a caller can tell two refusals apart by. */
export const refusalOf = ({ status, body: { requestId, ...body } }: ApiResponse) => ({ status, body });
