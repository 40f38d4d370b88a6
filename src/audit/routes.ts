import { AuditLog, AuditQuery, RecordExport } from '../../contract/admin-people.ts';
import type { Context } from '../context.ts';
import { type ApiApp, answer, nothing, refusals } from '../http/openapi/route-schemas.ts';
import { sendPage } from '../http/replies.ts';
import { listAudit, recordAudit } from './store.ts';

export const auditRoutes = (app: ApiApp, ctx: Context): void => {
  app.get(
    '/audit-log',
    {
      config: { role: 'ADMIN' },
      schema: {
        operationId: 'listAuditLog',
        summary: 'Read the audit log',
        description:
          'Every change of a client, a user, a rule or a plan, sign-ins, links, exports, backups and restores, newest first: who, what, when, and from which address. Refused sign-ins of a person from one address are one entry per 15 minutes, with a `count`.',
        tags: ['Audit log'],
        querystring: AuditQuery,
        response: { 200: answer('A page of entries.', AuditLog), ...refusals(400, 401, 403, 503) },
      },
    },
    (request, reply) => sendPage(reply, listAudit(ctx, request.caller.shop.id, request.query)),
  );
  app.post(
    '/exports',
    {
      schema: {
        operationId: 'recordExport',
        summary: 'Record that returns are exported',
        description:
          'The admin app makes its CSV files from the lists, and says so here before it saves one: the audit log then has `EXPORTED`.',
        tags: ['Audit log'],
        body: RecordExport,
        response: { 204: nothing('Recorded.'), ...refusals(400, 401, 403, 413, 415, 503) },
      },
    },
    async ({ caller: { shop, actor }, body }, reply) => {
      await ctx.db.transaction().execute((trx) =>
        recordAudit(trx, {
          shopId: shop.id,
          at: ctx.clock.now(),
          actor,
          action: 'EXPORTED',
          subject: { type: 'SHOP', id: shop.id, name: shop.name },
          data: body,
        }),
      );
      return reply.code(204).send(null);
    },
  );
};
