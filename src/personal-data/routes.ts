import type { FastifyInstance } from 'fastify';
import {
  CreateErasure,
  CustomerExport,
  EraseCustomer,
  EraseFormerEmployee,
  Erasure,
  FindCustomer,
  Forgetting,
  ForgettingCount,
  FormerEmployeeList,
  FoundCustomer,
} from '../../contract/personal-data.ts';
import type { RateWindows } from '../db/types.ts';
import { routesOf, sendJson } from '../http/route.ts';
import { rateLimited } from '../platform/errors.ts';
import type { ReturnServices } from '../returns/services.ts';
import { countForgettable, eraseCustomer, readForgetting, replaceForgetting } from './erase.ts';
import { eraseFormerEmployee, listFormerEmployees } from './erasures.ts';
import { exportCustomer, findCustomer } from './find.ts';

/** The deadline is long, since erasing 500 returns takes seconds. */
const ERASE_DEADLINE_MS = 120_000;

const ERASURES: RateWindows = [{ name: 'erasures-minute', points: 20, seconds: 60 }];

/** Allows one erasure at a time for each shop in a process: even a dry run may read all returns. */
const oneAtATime = () => {
  const erasing = new Set<string>();
  return async <Result>(shopId: string, erase: () => Promise<Result>): Promise<Result> => {
    if (erasing.has(shopId))
      throw rateLimited(1_000, () => 'Another erasure of the shop is running: send this one after it.');
    erasing.add(shopId);
    try {
      return await erase();
    } finally {
      erasing.delete(shopId);
    }
  };
};

export const erasureRoutes = (app: FastifyInstance, ctx: ReturnServices): void => {
  const often = ctx.rateGate(ERASURES, ctx.clock);
  const alone = oneAtATime();
  routesOf(app, { tag: 'Personal data', right: 'erase', whileReadOnly: true })({
    at: 'POST /erasures',
    operationId: 'eraseCustomer',
    deadlineMs: ERASE_DEADLINE_MS,
    summary: "Erase a customer's data",
    description:
      'Erases the customer from all ended returns that hold this email address, or held it before a correction; those that staff created are erased too, but not named. Open returns, and those about which a webhook is still to be sent, are refused. It cannot be undone. At most 500 returns a call: repeat it until `remaining` is 0. 20 calls a minute for each shop, one at a time: others are a 429.',
    body: CreateErasure,
    response: ['What was erased.', Erasure],
    errors: ['ERASE_REFUSED'],
    async handle({ caller, body }) {
      const { refused, msBeforeNext } = await often(`erasures ${caller.shop.id}`);
      if (refused) throw rateLimited(msBeforeNext, (s) => `20 calls a minute: wait ${s} s.`);
      const { customerEmail: email, dryRun } = body;
      return alone(caller.shop.id, () =>
        eraseCustomer(ctx, caller, { email, dryRun, includeOpen: false, reason: null }),
      );
    },
  });
};

export const personalDataRoutes = (app: FastifyInstance, ctx: ReturnServices): void => {
  const route = routesOf(app, { tag: 'Personal data', role: 'ADMIN' });
  route({
    at: 'POST /customers/find',
    operationId: 'findCustomer',
    summary: 'Find the returns of a customer',
    description: 'By email or phone, in returns of both kinds and in what was corrected.',
    body: FindCustomer,
    response: ['The returns.', FoundCustomer],
    handle: ({ caller, body }) => findCustomer(ctx, caller, body),
  });
  route({
    at: 'POST /customers/export',
    operationId: 'exportCustomer',
    proof: true,
    deadlineMs: ERASE_DEADLINE_MS,
    summary: 'Export all data of a customer',
    body: FindCustomer,
    response: ['One document: returns, timelines, events.', CustomerExport],
    handle: ({ caller, body }, reply) => sendJson(reply, exportCustomer(ctx, caller, body)),
  });
  route({
    at: 'POST /customers/erase',
    operationId: 'eraseCustomer',
    proof: true,
    deadlineMs: ERASE_DEADLINE_MS,
    summary: "Erase a customer's data",
    description:
      'At most 500 returns a call: repeat it until `remaining` is 0. When none could be erased, a 409 `ERASE_REFUSED` says why. It cannot be undone.',
    body: EraseCustomer,
    response: ['What was erased.', Erasure],
    errors: ['ERASE_REFUSED'],
    handle: ({ caller, body }) => eraseCustomer(ctx, caller, body),
  });
  route({
    at: 'GET /forgetting',
    operationId: 'getForgetting',
    summary: 'Read when customers are forgotten',
    response: ['The rules.', Forgetting],
    handle: ({ caller }) => readForgetting(ctx.db, caller.shop.id),
  });
  route({
    at: 'PUT /forgetting',
    operationId: 'replaceForgetting',
    shopLimit: 'settings',
    proof: true,
    summary: 'Change when customers are forgotten',
    description:
      'Returns that ended longer ago than this are erased within minutes, and from then on every day.',
    body: Forgetting,
    response: ['The rules as they are now.', Forgetting],
    handle: ({ caller, body }) => replaceForgetting(ctx, caller, body),
  });
  route({
    at: 'POST /forgetting/count',
    operationId: 'countForgetting',
    summary: 'Count what a rule would erase now',
    body: Forgetting,
    response: ['How many returns.', ForgettingCount],
    handle: ({ caller, body }) => countForgettable(ctx, caller, body),
  });
};

export const formerEmployeeRoutes = (app: FastifyInstance, ctx: ReturnServices): void => {
  const route = routesOf(app, { tag: 'Personal data', role: 'ADMIN' });
  route({
    at: 'GET /former-employees',
    operationId: 'listFormerEmployees',
    summary: 'List removed people whose names are still there',
    description: 'From the audit log: people whose removal is older than its entries are not listed.',
    response: ['The people.', FormerEmployeeList],
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
    response: ['It is being erased, or was before.'],
    handle: ({ caller, params, body }) => eraseFormerEmployee(ctx, caller, params.id, body),
  });
};
