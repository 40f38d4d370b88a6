import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import { CreatedUser, NewLink } from '../../contract/admin-access.ts';
import { ChangeUser, CreateUser, User, UserList, UserQuery } from '../../contract/admin-people.ts';
import type { Context } from '../context.ts';
import { type ApiApp, answer, nothing, refusals } from '../http/openapi/route-schemas.ts';
import { resetFactor } from './factor-actions.ts';
import { addPerson, makeLink } from './invitations.ts';
import { linkLimits } from './limits.ts';
import { changeUser, listUsers, removeUser } from './users.ts';

const tags = ['Team'];
const config = { role: 'ADMIN' } as const;
const proof = true as const;
const params = z.object({ id: z.string() });

/** Where links lead: PUBLIC_URL, else where the Admin's own browser is, which the gate has checked. */
const baseUrlFor = ({ config }: Context, { headers: { origin } }: FastifyRequest): string =>
  config.publicUrlIsSet || !origin ? config.publicUrl : new URL(origin).origin;

type Limits = ReturnType<typeof linkLimits>;
const handOver = (ctx: Context, limits: Limits, request: FastifyRequest) => ({
  baseUrl: baseUrlFor(ctx, request),
  mayMail: () => limits.mayMailForShop(request.caller.shop.id),
});

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

const create = (app: ApiApp, ctx: Context, limits: Limits): void => {
  app.post(
    '/users',
    {
      config: { ...config, proof },
      schema: {
        operationId: 'createUser',
        summary: 'Add a person',
        description:
          'An e-mail can be used once in the whole service. Without `password` the answer has a link, good once within 72 hours, with which the person chooses one; where the service sends mails, they also get it by e-mail.',
        tags,
        body: CreateUser,
        response: { 201: answer('The person.', CreatedUser), ...refusals(400, 401, 403, 409, 413, 415, 503) },
      },
    },
    async (request, reply) => {
      const { caller, body } = request;
      const way = handOver(ctx, limits, request);
      const made = await addPerson(ctx, caller.actor, caller.shop, body, way);
      return reply.code(201).send(made);
    },
  );
};

const change = (app: ApiApp, ctx: Context): void => {
  app.patch(
    '/users/:id',
    {
      config: { ...config, proof },
      schema: {
        operationId: 'changeUser',
        summary: "Change a person's e-mail, name, role or password",
        description:
          'Your own e-mail and password you change on your account page. A new password ends all their sessions. The last Admin of a shop stays one.',
        tags,
        params,
        body: ChangeUser,
        response: {
          200: answer('The person as they are now.', User),
          ...refusals(400, 401, 403, 404, 409, 413, 415, 503),
        },
      },
    },
    ({ caller, params, body }) => changeUser(ctx, caller, params.id, body),
  );
};

const remove = (app: ApiApp, ctx: Context): void => {
  app.delete(
    '/users/:id',
    {
      config: { ...config, proof },
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

const link = (app: ApiApp, ctx: Context, limits: Limits): void => {
  app.post(
    '/users/:id/link',
    {
      config: { ...config, proof },
      schema: {
        operationId: 'makeLink',
        summary: 'Make a link with which a person chooses a password',
        description:
          'Good once: within an hour, or within 72 hours for a person who never signed in. Not for yourself: your account page changes your own password. The links before it end. Where the service sends mails, they also get it by e-mail.',
        tags,
        params,
        response: { 201: answer('The link.', NewLink), ...refusals(400, 401, 403, 404, 409, 413, 415, 503) },
      },
    },
    async (request, reply) => {
      const { caller, params } = request;
      const way = handOver(ctx, limits, request);
      const made = await makeLink(ctx, caller.actor, caller.shop, params.id, way);
      return reply.code(201).send(made);
    },
  );
};

const resetSecondFactor = (app: ApiApp, ctx: Context): void => {
  app.delete(
    '/users/:id/second-factor',
    {
      config: { ...config, proof },
      schema: {
        operationId: 'resetSecondFactor',
        summary: "Take a person's second factor away",
        description:
          'For somebody who lost their phone. Ends all their sessions. Your own you turn off yourself.',
        tags,
        params,
        response: {
          204: nothing('They have none.'),
          ...refusals(400, 401, 403, 404, 409, 413, 415, 503),
        },
      },
    },
    async ({ caller, params }, reply) => {
      await resetFactor(ctx, caller.actor, caller.shop, params.id);
      return reply.code(204).send(null);
    },
  );
};

export const userRoutes = (app: ApiApp, ctx: Context): void => {
  const limits = linkLimits(ctx);
  for (const route of [list, create, change, remove, link, resetSecondFactor]) route(app, ctx, limits);
};
