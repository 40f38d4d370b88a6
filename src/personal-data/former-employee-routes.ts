import type { FastifyInstance } from 'fastify';
import { EraseFormerEmployee, FormerEmployeeList } from '../../contract/personal-data.ts';
import { routesOf } from '../http/route.ts';
import type { Context } from '../service/context.ts';
import { eraseFormerEmployee, listFormerEmployees } from './former-employees.ts';

export const formerEmployeeRoutes = (app: FastifyInstance, ctx: Context): void => {
  const route = routesOf(app, { tag: 'Personal data', role: 'ADMIN' });
  route({
    at: 'GET /former-employees',
    operationId: 'listFormerEmployees',
    summary: 'List removed people whose names are still there',
    description: 'From the audit log: people whose removal is older than its entries are not listed.',
    answer: ['The people.', FormerEmployeeList],
    handle: ({ caller }) => listFormerEmployees(ctx, caller),
  });
  route({
    at: 'POST /former-employees/:id/erase',
    operationId: 'eraseFormerEmployee',
    proof: true,
    summary: "Erase a former employee's name",
    description:
      'Timelines and the audit log then show `[erased]` in its place. In a large shop it takes minutes; until then the list has them with `erasing`. It cannot be undone.',
    body: EraseFormerEmployee,
    answer: ['It is being erased, or was before.'],
    notFound: 'The shop has no such former employee.',
    handle: ({ caller, params, body }) => eraseFormerEmployee(ctx, caller, params.id, body),
  });
};
