import { z } from 'zod';
import { AddNote, TradeMove } from '../../contract/admin.ts';
import { AdminTradeReturn, Assign, MoveQuery } from '../../contract/admin-returns.ts';
import { TRADE_RETURN_MOVES, type TradeReturnAction } from '../../contract/lifecycle.ts';
import type { Context } from '../context.ts';
import { type ApiApp, answer, refusals, stale } from '../http/openapi/route-schemas.ts';
import { assignTradeReturn, moveTradeReturn, noteTradeReturn } from './actions.ts';

const tags = ['Trade returns'];
const params = z.object({ id: z.string() });
const WRITE = refusals(400, 401, 403, 404, 409, 413, 415, 503);

const OPERATION_IDS: Record<TradeReturnAction, string> = {
  approve: 'approveTradeReturn',
  reject: 'rejectTradeReturn',
  receive: 'receiveTradeReturn',
  'request-credit': 'requestTradeReturnCredit',
  resolve: 'resolveTradeReturn',
};

export const moveRoutes = (app: ApiApp, ctx: Context): void => {
  for (const action of Object.keys(TRADE_RETURN_MOVES) as TradeReturnAction[]) {
    const { from, to } = TRADE_RETURN_MOVES[action];
    app.post(
      `/trade-returns/:id/${action}`,
      {
        schema: {
          operationId: OPERATION_IDS[action],
          summary: `Move to ${to}`,
          description: `Open from ${from.join(' and ')}; from elsewhere a 409 names what is open.`,
          tags,
          params,
          querystring: MoveQuery,
          body: TradeMove,
          response: {
            200: answer('The whole trade return, as it stands after this.', AdminTradeReturn),
            ...WRITE,
            ...stale,
          },
        },
      },
      ({ caller, params: { id }, body, query }) =>
        moveTradeReturn(ctx, caller, id, action, body.note, query.seen),
    );
  }
};

export const noteRoute = (app: ApiApp, ctx: Context): void => {
  app.post(
    '/trade-returns/:id/notes',
    {
      schema: {
        operationId: 'noteTradeReturn',
        summary: 'Add a note',
        description: 'Kept in the timeline; tells nobody outside.',
        tags,
        params,
        body: AddNote,
        response: { 200: answer('The whole trade return.', AdminTradeReturn), ...WRITE },
      },
    },
    (request) => noteTradeReturn(ctx, request.caller, request.params.id, request.body.note),
  );
};

export const assignRoute = (app: ApiApp, ctx: Context): void => {
  app.post(
    '/trade-returns/:id/assign',
    {
      schema: {
        operationId: 'assignTradeReturn',
        summary: 'Assign to somebody of the team',
        description: 'Its status stays as it is, and nobody outside is told.',
        tags,
        params,
        body: Assign,
        response: { 200: answer('The whole trade return.', AdminTradeReturn), ...WRITE },
      },
    },
    (request) => assignTradeReturn(ctx, request.caller, request.params.id, request.body.assigneeId),
  );
};
