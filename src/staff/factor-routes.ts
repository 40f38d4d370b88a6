import {
  ConfirmSecondFactor,
  NewSecondFactor,
  RecoveryCodes,
  SecondFactor,
  SignInRules,
} from '../../contract/admin-access.ts';
import type { Context } from '../context.ts';
import { type ApiApp, answer, nothing, refusals } from '../http/openapi/route-schemas.ts';
import {
  beginFactor,
  confirmFactor,
  makeRecoveryCodes,
  turnFactorOff,
  viewFactor,
} from './factor-actions.ts';
import { selfOf } from './own-account-routes.ts';
import { changeSignInRules, viewSignInRules } from './sign-in-rules.ts';

const tags = ['Session'];
const PATH = '/session/second-factor';
/** Also for people whose shop requires a second factor that they do not have yet. */
const config = { withoutFactor: true };
const proof = true as const;

const read = (app: ApiApp, ctx: Context): void => {
  app.get(
    PATH,
    {
      config,
      schema: {
        operationId: 'getSecondFactor',
        summary: 'Read how your second factor stands',
        tags,
        response: { 200: answer('How it stands.', SecondFactor), ...refusals(400, 401, 503) },
      },
    },
    ({ user }) => viewFactor(ctx, user.id),
  );
};

const begin = (app: ApiApp, ctx: Context): void => {
  app.post(
    PATH,
    {
      config: { ...config, proof },
      schema: {
        operationId: 'beginSecondFactor',
        summary: 'Begin to set up a second factor',
        description:
          'Gives a secret for an authenticator app (RFC 6238: SHA-1, six digits, 30 seconds). It counts once it is confirmed with a code. Beginning again makes another secret.',
        tags,
        response: {
          201: answer('The secret.', NewSecondFactor),
          ...refusals(400, 401, 403, 409, 413, 415, 503),
        },
      },
    },
    async (request, reply) => reply.code(201).send(await beginFactor(ctx, selfOf(request))),
  );
};

const confirm = (app: ApiApp, ctx: Context): void => {
  app.post(
    `${PATH}/confirm`,
    {
      config: { ...config, proof },
      schema: {
        operationId: 'confirmSecondFactor',
        summary: 'Turn the second factor on',
        description:
          'With a code of the app. From then on every sign-in asks for one. Your other sessions end.',
        tags,
        body: ConfirmSecondFactor,
        response: {
          200: answer('Ten recovery codes.', RecoveryCodes),
          ...refusals(400, 401, 403, 409, 413, 415, 503),
        },
      },
    },
    (request) => confirmFactor(ctx, selfOf(request), request.body.code),
  );
};

const recoveryCodes = (app: ApiApp, ctx: Context): void => {
  app.post(
    `${PATH}/recovery-codes`,
    {
      config: { proof },
      schema: {
        operationId: 'makeRecoveryCodes',
        summary: 'Make ten new recovery codes',
        description: 'Those before end.',
        tags,
        response: {
          200: answer('Ten recovery codes.', RecoveryCodes),
          ...refusals(400, 401, 403, 409, 413, 415, 503),
        },
      },
    },
    (request) => makeRecoveryCodes(ctx, selfOf(request)),
  );
};

const turnOff = (app: ApiApp, ctx: Context): void => {
  app.post(
    `${PATH}/turn-off`,
    {
      config: { proof },
      schema: {
        operationId: 'turnSecondFactorOff',
        summary: 'Turn your second factor off',
        tags,
        response: { 204: nothing('Off.'), ...refusals(400, 401, 403, 409, 413, 415, 503) },
      },
    },
    async (request, reply) => {
      await turnFactorOff(ctx, selfOf(request));
      return reply.code(204).send(null);
    },
  );
};

const rules = (app: ApiApp, ctx: Context): void => {
  const config = { role: 'ADMIN' } as const;
  app.get(
    '/sign-in-rules',
    {
      config,
      schema: {
        operationId: 'getSignInRules',
        summary: 'Read what signing in takes',
        tags: ['Settings'],
        response: { 200: answer('The rules.', SignInRules), ...refusals(400, 401, 403, 503) },
      },
    },
    async ({ caller }) => viewSignInRules(caller.shop),
  );
  app.put(
    '/sign-in-rules',
    {
      config: { ...config, proof },
      schema: {
        operationId: 'changeSignInRules',
        summary: 'Say what signing in takes',
        tags: ['Settings'],
        body: SignInRules,
        response: {
          200: answer('The rules as they are now.', SignInRules),
          ...refusals(400, 401, 403, 413, 415, 503),
        },
      },
    },
    ({ caller, body }) => changeSignInRules(ctx, caller, body),
  );
};

/** One's own second factor, and whether the shop requires one. */
export const secondFactorRoutes = (app: ApiApp, ctx: Context): void => {
  for (const route of [read, begin, confirm, recoveryCodes, turnOff, rules]) route(app, ctx);
};
