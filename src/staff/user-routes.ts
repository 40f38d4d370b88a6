import { z } from 'zod';
import { ChangeUser, CreateUser, User, UserList, UserQuery } from '../../contract/admin-people.ts';
import type { Context } from '../context.ts';
import { type ApiApp, answer, nothing, refusals } from '../http/openapi/route-schemas.ts';
import { changeUser, createUser, listUsers, removeUser } from './users.ts';

const tags = ['Team'];
const config = { role: 'ADMIN' } as const;
const params = z.object({ id: z.string() });

const list = (app: ApiApp, ctx: Context): void => {
  app.get(
    '/users',
    {
      config,
      schema: {
        operationId: 'listUsers',
        summary: "List the shop's people",
        tags,
        querystring: UserQuery,
        response: { 200: answer('A page of people.', UserList), ...refusals(400, 401, 403, 503) },
      },
    },
    (request) => listUsers(ctx, request.caller, request.query),
  );
};

const create = (app: ApiApp, ctx: Context): void => {
  app.post(
    '/users',
    {
      config,
      schema: {
        operationId: 'createUser',
        summary: 'Add a person',
        description: 'An e-mail can be used once in the whole service.',
        tags,
        body: CreateUser,
        response: { 201: answer('The person.', User), ...refusals(400, 401, 403, 409, 413, 415, 503) },
      },
    },
    async ({ caller, body }, reply) =>
      reply.code(201).send(await createUser(ctx, caller.actor, { shopId: caller.shop.id, ...body })),
  );
};

const change = (app: ApiApp, ctx: Context): void => {
  app.patch(
    '/users/:id',
    {
      config,
      schema: {
        operationId: 'changeUser',
        summary: "Change a person's e-mail, name, role or password",
        description: 'A new password ends all their sessions. The last Admin of a shop stays one.',
        tags,
        params,
        body: ChangeUser,
        response: {
          200: answer('The person as they are now.', User),
          ...refusals(400, 401, 403, 404, 409, 413, 415, 503),
        },
      },
    },
    (request) => changeUser(ctx, request.caller, request.params.id, request.body),
  );
};

const remove = (app: ApiApp, ctx: Context): void => {
  app.delete(
    '/users/:id',
    {
      config,
      schema: {
        operationId: 'removeUser',
        summary: 'Remove a person',
        description: 'Ends all their sessions. The last Admin of a shop cannot be removed.',
        tags,
        params,
        response: { 204: nothing('Removed.'), ...refusals(400, 401, 403, 404, 409, 413, 415, 503) },
      },
    },
    async (request, reply) => {
      await removeUser(ctx, request.caller, request.params.id);
      return reply.code(204).send(null);
    },
  );
};

export const userRoutes = (app: ApiApp, ctx: Context): void => {
  for (const route of [list, create, change, remove]) route(app, ctx);
};
