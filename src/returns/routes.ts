import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { AddNote } from '../../contract/admin.ts';
import {
  Assign,
  FaultList,
  FaultQuery,
  MoveQuery,
  RelatedReturns,
  SetWaitingFor,
  STAFF_SCHEMAS,
  StoreList,
} from '../../contract/admin-returns.ts';
import { SearchQuery, SearchResult } from '../../contract/admin-search.ts';
import { IdempotencyKey, type Right, Timeline, TimelineQuery } from '../../contract/common.ts';
import { RETURN_TABLES } from '../../contract/kinds.ts';
import type { ReturnAction } from '../../contract/lifecycle.ts';
import { DryRun } from '../../contract/usage.ts';
import { idempotencyKeyOf, routesOf, sendCreated, sendPage } from '../http/route.ts';
import { RETURN_ACTIONS, type ReturnActions } from './actions.ts';
import type { Audience, Correction, KindApi, MoveTexts } from './kinds/kind.ts';
import { KINDS } from './kinds/kinds.ts';
import { findRelated, frequentFaults, searchReturns } from './search.ts';
import type { ReturnServices } from './services.ts';
import { type PrefetchedRow, prefetchRow } from './store.ts';
import { readTimeline } from './timeline.ts';
import { listStores } from './totals.ts';

// The routes of all kinds of returns in both APIs, from the `api` of each kind.

const headers = z.object({ 'Idempotency-Key': IdempotencyKey });

type Register = ReturnType<typeof routesOf>;

type StaffAudience = Audience & { correct: z.ZodType<Correction & { seen?: number | undefined }> };
type RoutedKind = KindApi & { staff: StaffAudience; actions: ReturnActions };

const ROUTED_KINDS = RETURN_TABLES.map(
  (table): RoutedKind => ({
    ...KINDS[table].api,
    staff: STAFF_SCHEMAS[table],
    actions: RETURN_ACTIONS[table],
  }),
);

const dryRunRoute = (route: Register, ctx: ReturnServices, { names, create, actions }: RoutedKind): void =>
  route({
    at: `POST /${actions.path}/dry-run`,
    operationId: `dryRun${names.id}`,
    limit: 'create',
    summary: `Validate ${names.one} (dry run)`,
    description: `Checks the body as if it were sent to \`POST /${actions.path}\`, the allowance and the rate limit included, and writes nothing: no RMA, no number, no event. An \`Idempotency-Key\` is looked up as in the real call, and not stored.`,
    headers,
    body: create,
    response: [`The ${names.short} would have been created.`, DryRun],
    errors: ['IDEMPOTENCY_KEY_REUSED'],
    handle: (request) => actions.dryRun(ctx, request.caller, request.body, idempotencyKeyOf(request)),
  });

const commonRoutes = (
  route: Register,
  ctx: ReturnServices,
  kind: RoutedKind,
  { query, item, list }: Audience,
) => {
  const { names, create, clients, describe, actions } = kind;
  const { path, table } = actions;
  route({
    at: `POST /${path}`,
    operationId: `create${names.id}`,
    limit: 'create',
    hints: { dryRun: `to try it out, send the body to POST /${path}/dry-run` },
    summary: `Create ${names.one}`,
    description: describe.create,
    headers,
    body: create,
    response: [
      `The ${names.short}, created (or, with \`Idempotency-Replayed: true\`, created before).`,
      clients.item,
    ],
    status: 201,
    errors: ['IDEMPOTENCY_KEY_IN_USE', 'IDEMPOTENCY_KEY_REUSED'],
    handle: (request, reply) =>
      sendCreated(reply, actions.create(ctx, request.caller, request.body, idempotencyKeyOf(request))),
  });
  route({
    at: `GET /${path}`,
    operationId: `list${names.id}s`,
    summary: `List ${names.many}`,
    description: `All ${names.short}s that API clients of the shop created, newest first. Filters combine.`,
    query,
    response: [`A page of ${names.short}s.`, list],
    handle: (request, reply) => sendPage(reply, actions.list(ctx, request.caller, request.query)),
  });
  route({
    at: `GET /${path}/:id`,
    operationId: `get${names.id}`,
    prefetch: (params) => prefetchRow(ctx, table, (params as { id: string }).id),
    summary: `Read ${names.one}`,
    description: `The whole ${names.short} as it stands now, by its \`id\`. With an \`rmaNumber\`, ask the list.`,
    response: [`The ${names.short} as it stands now.`, item],
    errors: ['NOT_FOUND'],
    handle: ({ caller, params, prefetched }) =>
      actions.get(ctx, caller, params.id, prefetched as PrefetchedRow),
  });
  route({
    at: `GET /${path}/:id/timeline`,
    operationId: `get${names.id}Timeline`,
    summary: `Read a ${names.short}'s timeline`,
    description: `Everything that happened to the ${names.short}, oldest first: who did what, when, and what they noted.`,
    query: TimelineQuery,
    response: ['A page of the timeline.', Timeline],
    errors: ['NOT_FOUND'],
    handle: ({ caller, params, query }, reply) =>
      sendPage(reply, readTimeline(ctx, table, caller, params.id, query)),
  });
};

const moveRoutes = (
  route: Register,
  ctx: ReturnServices,
  kind: RoutedKind,
  { item }: Audience,
  { query, ...config }: { right?: Right; query?: typeof MoveQuery },
): void => {
  const { names, moves, moveBodies, actions } = kind;
  for (const [action, texts] of Object.entries(moves) as [ReturnAction, MoveTexts][])
    route({
      ...texts,
      ...config,
      at: `POST /${actions.path}/:id/${action}`,
      query,
      body: moveBodies[action] as z.ZodType<object>,
      response: [`The whole ${names.short}, as it stands after this.`, item],
      errors: ['NOT_FOUND', 'ERASED', ...kind.refusedMoves],
      handle: ({ caller, params, body, query: { seen } }) =>
        actions.move(ctx, caller, params.id, action, body, seen),
    });
};

const staffRoutes = (route: Register, ctx: ReturnServices, kind: RoutedKind): void => {
  const { names, describe, actions, staff } = kind;
  const { path, table } = actions;
  const response = [`The whole ${names.short}, as it stands after this.`, staff.item] as const;
  const changed = { response, errors: ['NOT_FOUND', 'ERASED', 'EDIT_CONFLICT'] as const };
  route({
    ...changed,
    at: `POST /${path}/:id/notes`,
    operationId: `note${names.id}`,
    summary: 'Add a note',
    description: 'Kept in the timeline. Sends no webhook.',
    body: AddNote,
    handle: ({ caller, params, body }) => actions.change(ctx, caller, { ...params, type: 'note', ...body }),
  });
  route({
    ...changed,
    at: `POST /${path}/:id/assign`,
    operationId: `assign${names.id}`,
    summary: 'Assign to a person of the team',
    description: 'The status stays as it is. API clients that follow changes get an `updated` event.',
    body: Assign,
    handle: ({ caller, params, body }) => actions.assign(ctx, caller, params.id, body.assigneeId),
  });
  route({
    ...changed,
    at: `PUT /${path}/:id/waiting-for`,
    operationId: `setWaitingOf${names.id}`,
    summary: 'Say what the work waits for',
    description:
      'Until it is removed or the status changes; meanwhile the target days stand still. API clients that follow changes get an `updated` event.',
    query: MoveQuery,
    body: SetWaitingFor,
    handle: ({ caller, params, body, query: { seen } }) =>
      actions.change(ctx, caller, { ...params, type: 'wait', waiting: body, seen }),
  });
  route({
    ...changed,
    at: `DELETE /${path}/:id/waiting-for`,
    operationId: `clearWaitingOf${names.id}`,
    summary: 'Say that the work goes on',
    description:
      'The target days count on from where they stood. API clients that follow changes get an `updated` event.',
    query: MoveQuery,
    handle: ({ caller, params, query: { seen } }) =>
      actions.change(ctx, caller, { ...params, type: 'wait', waiting: null, seen }),
  });
  route({
    ...changed,
    at: `POST /${path}/:id/correct`,
    operationId: `correct${names.id}`,
    summary: 'Correct a typing error',
    description:
      'Kept in the timeline with the old and the new value. API clients that follow changes get an `updated` event.',
    body: staff.correct,
    handle: ({ caller, params, body: { seen, ...fields } }) =>
      actions.change(ctx, caller, { ...params, type: 'correct', fields, seen }),
  });
  route({
    at: `GET /${path}/:id/related`,
    operationId: `getRelatedTo${names.id}`,
    summary: describe.related,
    response: ['The earlier returns.', RelatedReturns],
    handle: ({ caller, params }) => findRelated(ctx, table, caller, params.id),
  });
};

export const returnRoutes = (app: FastifyInstance, ctx: ReturnServices): void => {
  for (const kind of ROUTED_KINDS) {
    const route = routesOf(app, { tag: kind.tag, right: 'write' });
    dryRunRoute(route, ctx, kind);
    commonRoutes(route, ctx, kind, kind.clients);
    moveRoutes(route, ctx, kind, kind.clients, kind.clientMoves);
  }
};

export const returnAdminRoutes = (app: FastifyInstance, ctx: ReturnServices): void => {
  for (const kind of ROUTED_KINDS) {
    const route = routesOf(app, { tag: kind.tag });
    commonRoutes(route, ctx, kind, kind.staff);
    moveRoutes(route, ctx, kind, kind.staff, { query: MoveQuery });
    staffRoutes(route, ctx, kind);
  }
  const route = routesOf(app, { tag: KINDS.offline_repairs.api.tag });
  route({
    at: 'GET /stores',
    operationId: 'listStores',
    summary: 'List the stores of repairs',
    response: ['The stores.', StoreList],
    handle: ({ caller }) => listStores(ctx, caller.shop.id),
  });
  route({
    at: 'GET /faults',
    operationId: 'listFaults',
    summary: 'List the frequent faults of a sku',
    query: FaultQuery,
    response: ['The faults.', FaultList],
    handle: ({ caller, query }) => frequentFaults(ctx, caller, query.sku),
  });
  routesOf(app, { tag: 'Overview' })({
    at: 'GET /search',
    operationId: 'searchReturns',
    summary: 'Find a return of either kind',
    query: SearchQuery,
    response: ['What was found.', SearchResult],
    handle: ({ caller, query }) => searchReturns(ctx, caller, query.q),
  });
};
