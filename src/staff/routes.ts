import { z } from 'zod';
import {
  ChangePassword,
  ChangeUser,
  CreateUser,
  SetUp,
  SetUpDone,
  SignedIn,
  SignIn,
  User,
  UserList,
  UserQuery,
} from '../../contract/admin-people.ts';
import type { Context } from '../context.ts';
import { callerAddress } from '../http/caller-address.ts';
import { type ApiApp, answer, nothing, refusals } from '../http/openapi/route-schemas.ts';
import {
  clearSessionCookie,
  deviceOf,
  sessionTokenOf,
  setDeviceCookie,
  setSessionCookie,
} from './cookies.ts';
import { endSession } from './sessions.ts';
import { setUp } from './set-up.ts';
import { changeOwnPassword, signIn, viewSignedIn } from './sign-in.ts';
import { changeUser, createUser, listUsers, removeUser } from './users.ts';

export const staffRoutes = (app: ApiApp, ctx: Context): void => {
  sessionRoutes(app, ctx);
  userRoutes(app, ctx);
};

const sessionRoutes = (app: ApiApp, ctx: Context): void => {
  const tags = ['Session'];
  const open = { isPublic: true };

  app.post(
    '/session',
    {
      config: open,
      schema: {
        operationId: 'signIn',
        summary: 'Sign in',
        description:
          'Sets the session cookie, for 12 hours, and one by which this browser is known from then on. A wrong e-mail and a wrong password look alike. Ten failures for one e-mail from one address lock that pair for 15 minutes. A hundred for one e-mail, or from one address, lock it for whoever never signed in to the e-mail from this browser or address.',
        tags,
        security: [],
        body: SignIn,
        response: {
          200: answer('Signed in.', SignedIn),
          ...refusals(400, 401, 403, 413, 415, 429, 503),
        },
      },
    },
    async (request, reply) => {
      const origin = { address: callerAddress(request), device: deviceOf(request) };
      const { token, device, signedIn } = await signIn(ctx, origin, request.body);
      setSessionCookie(ctx.config, reply, token);
      setDeviceCookie(ctx.config, reply, device);
      return signedIn;
    },
  );

  app.get(
    '/session',
    {
      schema: {
        operationId: 'getSession',
        summary: 'Who is signed in',
        tags,
        response: { 200: answer('The person and their shop.', SignedIn), ...refusals(400, 401, 503) },
      },
    },
    async ({ caller, user }) => viewSignedIn(caller, user),
  );

  app.delete(
    '/session',
    {
      config: open,
      schema: {
        operationId: 'signOut',
        summary: 'Sign out',
        description: 'Ends the session, if there is one.',
        tags,
        security: [],
        response: { 204: nothing('Signed out.'), ...refusals(400, 403, 413, 415, 503) },
      },
    },
    async (request, reply) => {
      await endSession(ctx.db, sessionTokenOf(request));
      clearSessionCookie(ctx.config, reply);
      return reply.code(204).send(null);
    },
  );

  app.post(
    '/set-up',
    {
      config: open,
      schema: {
        operationId: 'setUp',
        summary: 'Make the first shop and its Admin',
        description: 'Works once, with the token from the link that the service printed at its first start.',
        tags,
        security: [],
        body: SetUp,
        response: { 201: answer('Made; sign in next.', SetUpDone), ...refusals(400, 403, 413, 415, 503) },
      },
    },
    async (request, reply) => reply.code(201).send(await setUp(ctx, request.body)),
  );

  app.put(
    '/session/password',
    {
      schema: {
        operationId: 'changeOwnPassword',
        summary: 'Change your own password',
        description:
          'Ends all your sessions and opens a new one here. A session may be wrong about the present password ten times; then it ends.',
        tags,
        body: ChangePassword,
        response: {
          200: answer('The password is changed.', SignedIn),
          ...refusals(400, 401, 403, 413, 415, 503),
        },
      },
    },
    async (request, reply) => {
      const { token, signedIn } = await changeOwnPassword(
        ctx,
        sessionTokenOf(request),
        request,
        request.body,
      );
      setSessionCookie(ctx.config, reply, token);
      return signedIn;
    },
  );
};

const userRoutes = (app: ApiApp, ctx: Context): void => {
  const tags = ['Team'];
  const config = { role: 'ADMIN' } as const;
  const params = z.object({ id: z.string() });

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

  app.patch(
    '/users/:id',
    {
      config,
      schema: {
        operationId: 'changeUser',
        summary: "Change a person's e-mail, role or password",
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
