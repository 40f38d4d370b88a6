import { ChangePassword, SetUpDone, SignedIn, SignIn } from '../../contract/admin-people.ts';
import { GivenSetUp, SetUp } from '../../contract/admin-set-up.ts';
import type { Context } from '../context.ts';
import { callerAddress } from '../http/caller-address.ts';
import { type ApiApp, answer, nothing, refusals } from '../http/openapi/route-schemas.ts';
import { clearSessionCookie, deviceOf, sessionTokenOf, setSessionCookie } from './cookies.ts';
import { selfOf, usedFrom } from './own-account-routes.ts';
import { endSession } from './sessions.ts';
import { findOffer, setUp } from './set-up.ts';
import { changeOwnPassword, signIn, viewSignedIn } from './sign-in.ts';
import { trustDevice } from './trusted-devices.ts';

const tags = ['Session'];
const config = { isPublic: true };

const signInRoute = (app: ApiApp, ctx: Context): void => {
  app.post(
    '/session',
    {
      config,
      schema: {
        operationId: 'signIn',
        summary: 'Sign in',
        description:
          'Sets the session cookie, for 12 hours, and one by which this browser is known from then on. A wrong e-mail and a wrong password look alike. Where the person has a second factor and `code` is missing, a right password is answered with 401 `SECOND_FACTOR_REQUIRED`; ten wrong codes within an hour, or fifty within a day, lock all browsers in which the person never signed in. Ten wrong passwords for one e-mail from one address lock that pair for 15 minutes. A hundred for one e-mail, or from one address, lock it for browsers and addresses that never signed in to the e-mail.',
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
      const origin = { ...usedFrom(request), device: deviceOf(ctx.config, request) };
      const { token, signedIn } = await signIn(ctx, origin, request.body);
      setSessionCookie(ctx.config, reply, token);
      await trustDevice(ctx, request, reply, signedIn.user.id);
      return signedIn;
    },
  );
};

const readSession = (app: ApiApp): void => {
  app.get(
    '/session',
    {
      config: { withoutFactor: true },
      schema: {
        operationId: 'getSession',
        summary: 'Who is signed in',
        tags,
        response: { 200: answer('The person and their shop.', SignedIn), ...refusals(400, 401, 503) },
      },
    },
    async ({ caller, user }) => viewSignedIn(caller, user),
  );
};

const signOut = (app: ApiApp, ctx: Context): void => {
  app.delete(
    '/session',
    {
      config,
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
      await endSession(ctx.db, sessionTokenOf(ctx.config, request));
      clearSessionCookie(ctx.config, reply);
      return reply.code(204).send(null);
    },
  );
};

const setUpRoute = (app: ApiApp, ctx: Context): void => {
  app.post(
    '/set-up',
    {
      config,
      schema: {
        operationId: 'setUp',
        summary: 'Make the first shop and its Admin',
        description:
          'Works once, with the token from the link that the service printed at its latest start, for one hour; 409 `ALREADY_SET_UP` once there is a shop.',
        tags,
        security: [],
        body: SetUp,
        response: {
          201: answer('Made; sign in next.', SetUpDone),
          ...refusals(400, 403, 409, 413, 415, 503),
        },
      },
    },
    async (request, reply) => reply.code(201).send(await setUp(ctx, callerAddress(request), request.body)),
  );
};

const checkSetUp = (app: ApiApp, ctx: Context): void => {
  app.post(
    '/set-up/check',
    {
      config,
      schema: {
        operationId: 'checkSetUp',
        summary: 'Whether the set-up link still works',
        tags,
        security: [],
        body: GivenSetUp,
        response: { 204: nothing('It does.'), ...refusals(400, 403, 409, 413, 415, 503) },
      },
    },
    async (request, reply) => {
      await findOffer(ctx, request.body.token);
      return reply.code(204).send(null);
    },
  );
};

const changePassword = (app: ApiApp, ctx: Context): void => {
  app.put(
    '/session/password',
    {
      schema: {
        operationId: 'changeOwnPassword',
        summary: 'Change your own password',
        description:
          'Takes your current password, or a code of your second factor. Ends all your sessions and opens a new one here. A session may be wrong about them ten times; then it ends.',
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
        selfOf(ctx, request),
        usedFrom(request),
        request.body,
      );
      setSessionCookie(ctx.config, reply, token);
      await trustDevice(ctx, request, reply, signedIn.user.id);
      return signedIn;
    },
  );
};

/** Signing in and out, the first set-up, and one's own password. */
export const sessionRoutes = (app: ApiApp, ctx: Context): void => {
  for (const route of [signInRoute, readSession, signOut, checkSetUp, setUpRoute, changePassword])
    route(app, ctx);
};
