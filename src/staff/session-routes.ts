import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import {
  AskForLink,
  ChangeEmail,
  GivenLink,
  GoToProvider,
  LinkAsked,
  LinkTarget,
  NewSecondFactor,
  OwnSessions,
  Proof,
  ProviderAddress,
  RecoveryCodes,
  SecondFactor,
  SecondFactorCode,
  SignInOptions,
  UseLink,
} from '../../contract/admin-access.ts';
import { ADMIN_BASE_PATH, ChangePassword, SetUpDone, SignedIn, SignIn } from '../../contract/admin-people.ts';
import { GivenSetUp, SetUp } from '../../contract/admin-set-up.ts';
import { baseUrlFor } from '../http/error-responses.ts';
import { callerAddress } from '../http/requests.ts';
import { routesOf } from '../http/route.ts';
import type { Core } from '../platform/core.ts';
import { sha256 } from '../platform/secrets.ts';
import { choosePassword, findOffer, mailLinkLater, setUp, viewLinkTarget } from './links.ts';
import {
  changeOwnEmail,
  changeOwnPassword,
  endOwnSession,
  listOwnSessions,
  makeRecoveryCodes,
  prove,
  turnFactorOff,
} from './own-account.ts';
import { beginAtProvider, returnFromProvider } from './provider-sign-in.ts';
import { beginFactor, confirmFactor, viewFactor } from './second-factor.ts';
import { cookieIn, endSession, sendCookie, sendSession, trustDevice, viewSignedIn } from './sessions.ts';
import { signIn } from './sign-in.ts';
import type { StaffServices } from './types.ts';
import { endSessionsOf, normalizeEmail } from './users.ts';

const signInOrigin = (ctx: Core, request: FastifyRequest) => ({
  address: callerAddress(request),
  userAgent: request.headers['user-agent'],
  deviceCookie: cookieIn(ctx, request, 'device'),
});

/** There are up to three requests to the provider, each with its own time limit. */
const RETURN_DEADLINE_MS = 12_000;

const signInRoutes = (app: FastifyInstance, ctx: StaffServices): void => {
  const route = routesOf(app, { tag: 'Session' });
  route({
    at: 'POST /session',
    operationId: 'signIn',
    isPublic: true,
    summary: 'Sign in',
    description:
      'Sets the session cookie, valid for 12 hours, and a cookie that identifies this browser at later sign-ins. A wrong email and a wrong password get the same response. If the person has a second factor and `code` is missing, a correct password is answered with 401 `SECOND_FACTOR_REQUIRED`; ten wrong codes within an hour, or fifty within a day, lock all browsers in which the person never signed in. Ten wrong passwords for one email from one address lock that pair for 15 minutes. A hundred for one email, or from one address, lock it for browsers and addresses that never signed in with that email.',
    body: SignIn,
    response: ['Signed in.', SignedIn],
    errors: [401],
    handle: async (request, reply) =>
      sendSession(ctx, reply, await signIn(ctx, signInOrigin(ctx, request), request.body)),
  });
  route({
    at: 'GET /session',
    operationId: 'getSession',
    withoutFactor: true,
    summary: 'Read who is signed in',
    response: ['The person and their shop.', SignedIn],
    handle: async (request) => viewSignedIn(request),
  });
  route({
    at: 'DELETE /session',
    operationId: 'signOut',
    isPublic: true,
    summary: 'Sign out',
    description: 'Ends the session, if there is one.',
    response: ['Signed out.'],
    async handle(request, reply) {
      await endSession(ctx.db, cookieIn(ctx, request, 'session'));
      sendCookie(ctx, reply, 'session', null);
    },
  });
};

const setUpRoutes = (app: FastifyInstance, ctx: StaffServices): void => {
  const route = routesOf(app, { tag: 'Session', isPublic: true });
  route({
    at: 'POST /set-up/check',
    operationId: 'checkSetUp',
    summary: 'Check whether the set-up link still works',
    body: GivenSetUp,
    response: ['The link works.'],
    errors: [409],
    handle: ({ body }) => findOffer(ctx, body.token),
  });
  route({
    at: 'POST /set-up',
    operationId: 'setUp',
    summary: 'Create the first shop and its Admin',
    description:
      'Works once, with the token from the link that the service printed at its latest start, for one hour; 409 `ALREADY_SET_UP` once there is a shop.',
    body: SetUp,
    response: ['Created; sign in next.', SetUpDone],
    status: 201,
    errors: [409],
    handle: (request) => setUp(ctx, callerAddress(request), request.body),
  });
};

const linkRoutes = (app: FastifyInstance, ctx: StaffServices): void => {
  const route = routesOf(app, { tag: 'Session', isPublic: true });
  route({
    at: 'GET /sign-in-options',
    operationId: 'getSignInOptions',
    summary: 'Read what the sign-in page can offer',
    response: ['The options.', SignInOptions],
    handle: async () => ({
      passwordLinks: ctx.mail !== null && ctx.config.passwordSignIn,
      passwords: ctx.config.passwordSignIn,
      provider: ctx.config.provider?.name ?? null,
    }),
  });
  route({
    at: 'POST /password-links',
    operationId: 'askForPasswordLink',
    linkLimit: 'asked',
    summary: 'Ask for a link to choose a new password',
    description:
      'The link is mailed, at most three times an hour, if the address is known and the service sends mails. The response is always the same.',
    body: AskForLink,
    response: ['Accepted.', LinkAsked],
    status: 202,
    async handle(request) {
      mailLinkLater(ctx, normalizeEmail(request.body.email), callerAddress(request));
      return { accepted: true as const };
    },
  });
  route({
    at: 'POST /links/check',
    operationId: 'checkLink',
    linkLimit: 'used',
    summary: 'Read whose link it is',
    description: 'Changes nothing. The token is in the body, so that it is not logged.',
    body: GivenLink,
    response: ['The link is valid.', LinkTarget],
    errors: [410],
    handle: ({ body }) => viewLinkTarget(ctx, body.token),
  });
  route({
    at: 'POST /links/use',
    operationId: 'useLink',
    linkLimit: 'used',
    summary: 'Choose a password with a link',
    description:
      'Works once, signs the person in, and ends their other sessions and links. Where a second factor is on, a code is needed as well; without one, or with a wrong one, the link stays valid.',
    body: UseLink,
    response: ['Signed in.', SignedIn],
    errors: [401, 410],
    handle: async (request, reply) =>
      sendSession(ctx, reply, await choosePassword(ctx, signInOrigin(ctx, request), request.body)),
  });
};

const accountRoutes = (app: FastifyInstance, ctx: StaffServices): void => {
  const route = routesOf(app, { tag: 'Session' });
  route({
    at: 'POST /session/proof',
    operationId: 'giveProof',
    withoutFactor: true,
    summary: 'Confirm your identity',
    description:
      'With your password or a code of your second factor. For ten minutes this session may then do what is otherwise answered with 403 `PROOF_REQUIRED`; signing in counts as well. The tenth wrong guess ends the session.',
    body: Proof,
    response: ['Confirmed.'],
    handle: (request) => prove(ctx, request, request.body),
  });
  route({
    at: 'PUT /session/password',
    operationId: 'changeOwnPassword',
    summary: 'Change your own password',
    description:
      'Takes your current password, or, if your second factor is on, a code of it: the password is then not enough. Ends all your sessions and opens a new one here. The tenth wrong guess ends the session.',
    body: ChangePassword,
    response: ['The password is changed.', SignedIn],
    errors: [409],
    handle: async (request, reply) =>
      sendSession(
        ctx,
        reply,
        await changeOwnPassword(ctx, request, signInOrigin(ctx, request), request.body),
      ),
  });
  route({
    at: 'PUT /session/email',
    operationId: 'changeOwnEmail',
    summary: 'Change your own email',
    description:
      'Takes your current password, or a code of your second factor. People who signed in through the identity provider may give neither: then a proof in the last ten minutes is needed (`PROOF_REQUIRED`). The tenth wrong guess ends the session.',
    body: ChangeEmail,
    response: ['The email is changed.', SignedIn],
    errors: [409],
    handle: (request) => changeOwnEmail(ctx, request, request.body),
  });
  route({
    at: 'GET /session/sessions',
    operationId: 'listOwnSessions',
    summary: 'List your sessions',
    response: ['Where you are signed in.', OwnSessions],
    handle: (request) => listOwnSessions(ctx, request),
  });
  route({
    at: 'DELETE /session/sessions',
    operationId: 'endOtherSessions',
    summary: 'Sign out everywhere else',
    response: ['Every session but this one has ended.'],
    handle: (request) => endSessionsOf(ctx.db, request.user.id, request.sessionToken),
  });
  route({
    at: 'DELETE /session/sessions/:id',
    operationId: 'endOwnSession',
    summary: 'Sign out one of your sessions',
    response: ['It has ended.'],
    handle: (request) => endOwnSession(ctx, request, request.params.id),
  });
};

const providerRoutes = (app: FastifyInstance, ctx: StaffServices): void => {
  const route = routesOf(app, { tag: 'Session' });
  const callbackOf = (request: FastifyRequest): string =>
    `${baseUrlFor(ctx.config, request)}${ADMIN_BASE_PATH}/session/oidc/callback`;
  const visit = {
    body: GoToProvider,
    response: ['Send the browser there.', ProviderAddress] as const,
    errors: [404 as const],
  };
  const sendAway = async (request: FastifyRequest, reply: FastifyReply, session: string | null) => {
    const given = request.body as GoToProvider;
    const { url, cookie } = await beginAtProvider(ctx, callbackOf(request), given, session);
    sendCookie(ctx, reply, 'provider', cookie);
    return { url };
  };
  route({
    at: 'POST /session/oidc',
    operationId: 'goToProvider',
    isPublic: true,
    summary: 'Begin to sign in through the identity provider',
    description: 'Also sets a cookie, which is valid for ten minutes.',
    ...visit,
    handle: (request, reply) => sendAway(request, reply, null),
  });
  route({
    at: 'POST /session/oidc/proof',
    operationId: 'proveAtProvider',
    withoutFactor: true,
    summary: 'Begin to confirm your identity at the identity provider',
    description: 'It asks for your password again, which then counts as `POST /session/proof` does.',
    ...visit,
    handle: (request, reply) => sendAway(request, reply, sha256(request.sessionToken)),
  });
  route({
    at: 'GET /session/oidc/callback',
    operationId: 'returnFromProvider',
    isPublic: true,
    deadlineMs: RETURN_DEADLINE_MS,
    summary: 'Come back from the identity provider',
    description: 'The provider sends the browser here. Sets the session cookie.',
    query: z.looseObject({}),
    response: ['To the sign-in page, which goes on, or says what is wrong.'],
    status: 303,
    errors: [404],
    async handle(request, reply) {
      const address = new URL(callbackOf(request));
      address.search = request.url.slice(request.url.indexOf('?'));
      const cookie = cookieIn(ctx, request, 'provider');
      const { token, search } = await returnFromProvider(ctx, signInOrigin(ctx, request), address, cookie);
      sendCookie(ctx, reply, 'provider', null);
      if (token) sendCookie(ctx, reply, 'session', token);
      // The address is relative, so that it also works below a proxy's path.
      return reply.redirect(`../../../sign-in?${new URLSearchParams(search)}`, 303);
    },
  });
};

const secondFactorRoutes = (app: FastifyInstance, ctx: StaffServices): void => {
  const route = routesOf(app, { tag: 'Session' });
  route({
    at: 'GET /session/second-factor',
    operationId: 'getSecondFactor',
    withoutFactor: true,
    summary: 'Read the state of your second factor',
    response: ['Its state.', SecondFactor],
    handle: ({ user }) => viewFactor(ctx, user.id),
  });
  route({
    at: 'POST /session/second-factor',
    operationId: 'beginSecondFactor',
    withoutFactor: true,
    proof: true,
    summary: 'Begin to set up a second factor',
    description:
      'Gives a secret for an authenticator app (RFC 6238: SHA-1, six digits, 30 seconds). It takes effect once it is confirmed with a code. Beginning again creates another secret.',
    response: ['The secret.', NewSecondFactor],
    status: 201,
    errors: [409],
    handle: (request) => beginFactor(ctx, request),
  });
  route({
    at: 'POST /session/second-factor/confirm',
    operationId: 'confirmSecondFactor',
    withoutFactor: true,
    proof: true,
    summary: 'Turn the second factor on',
    description: 'With a code of the app. From then on every sign-in asks for one. Your other sessions end.',
    body: SecondFactorCode,
    response: ['Ten recovery codes.', RecoveryCodes],
    errors: [409],
    async handle(request, reply) {
      const codes = await confirmFactor(ctx, request, request.body.code);
      await trustDevice(ctx, reply, request.user.id);
      return codes;
    },
  });
  route({
    at: 'POST /session/second-factor/recovery-codes',
    operationId: 'makeRecoveryCodes',
    summary: 'Create ten new recovery codes',
    description:
      'Takes a code of the app or a recovery code; a password is not enough. Earlier codes no longer work. Five times an hour.',
    body: SecondFactorCode,
    response: ['Ten recovery codes.', RecoveryCodes],
    errors: [409],
    handle: (request) => makeRecoveryCodes(ctx, request, request.body),
  });
  route({
    at: 'POST /session/second-factor/turn-off',
    operationId: 'turnSecondFactorOff',
    summary: 'Turn your second factor off',
    description: 'Takes a code of the app or a recovery code; a password is not enough.',
    body: SecondFactorCode,
    response: ['Turned off.'],
    errors: [409],
    async handle(request, reply) {
      await turnFactorOff(ctx, request, request.body);
      await trustDevice(ctx, reply, request.user.id);
    },
  });
};

export const sessionRoutes = (app: FastifyInstance, ctx: StaffServices): void => {
  signInRoutes(app, ctx);
  setUpRoutes(app, ctx);
  linkRoutes(app, ctx);
  accountRoutes(app, ctx);
  providerRoutes(app, ctx);
  secondFactorRoutes(app, ctx);
};
