import type { FastifyInstance } from 'fastify';
import { AuditLog, AuditQuery, RecordExport } from '../../contract/admin-people.ts';
import { routesOf, sendPage } from '../http/route.ts';
import type { PagingServices } from '../paging/services.ts';
import { listAudit, recordShopAudit } from './store.ts';

export const auditRoutes = (app: FastifyInstance, ctx: PagingServices): void => {
  const route = routesOf(app, { tag: 'Audit log' });
  route({
    at: 'GET /audit-log',
    operationId: 'listAuditLog',
    role: 'ADMIN',
    summary: 'Read the audit log',
    description:
      'Every change of a client, a user, a rule or a plan, sign-ins, links, exports, backups and restores, newest first: who, what, when, and from which address. Refused sign-ins of a person from one address are one entry per 15 minutes, with a `count`.',
    query: AuditQuery,
    response: ['A page of entries.', AuditLog],
    handle: ({ caller, query }, reply) => sendPage(reply, listAudit(ctx, caller.shop.id, query)),
  });
  route({
    at: 'POST /exports',
    operationId: 'recordExport',
    summary: 'Record that returns are exported',
    description:
      'The admin app builds its CSV files from the lists, and records that here before it saves one: the audit log then has `EXPORTED`.',
    body: RecordExport,
    response: ['Recorded.'],
    handle: ({ caller, body }) => recordShopAudit(ctx, ctx.db, caller, 'EXPORTED', body),
  });
};
