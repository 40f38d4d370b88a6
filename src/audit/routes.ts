import { AuditLog, AuditQuery } from '../../contract/admin-people.ts';
import type { Context } from '../context.ts';
import { type ApiApp, answer, refusals } from '../http/openapi/route-schemas.ts';
import { sendPage } from '../http/replies.ts';
import { listAudit } from './store.ts';

export const auditRoutes = (app: ApiApp, ctx: Context): void => {
  app.get(
    '/audit-log',
    {
      config: { role: 'ADMIN' },
      schema: {
        operationId: 'listAuditLog',
        summary: 'Read the audit log',
        description:
          'Every change of a client, a user, a rule or a plan, newest first: who made it, and what it was.',
        tags: ['Audit log'],
        querystring: AuditQuery,
        response: { 200: answer('A page of entries.', AuditLog), ...refusals(400, 401, 403, 503) },
      },
    },
    (request, reply) => sendPage(reply, listAudit(ctx, request.caller.shop.id, request.query)),
  );
};
