import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import { ChangeEmail, OwnSessions, Proof } from '../../contract/admin-access.ts';
import { SignedIn } from '../../contract/admin-people.ts';
import type { Context } from '../context.ts';
import { callerAddress } from '../http/caller-address.ts';
import { type ApiApp, answer, nothing, refusals } from '../http/openapi/route-schemas.ts';
import { sessionTokenOf } from './cookies.ts';
import {
  browserOf,
  changeOwnEmail,
  endOwnSession,
  listOwnSessions,
  prove,
  type Self,
} from './own-account.ts';
import { endOtherSessionsOf, type UsedFrom } from './sessions.ts';
import { viewSignedIn } from './sign-in.ts';

const tags = ['Session'];
const WRITE = refusals(400, 401, 403, 413, 415, 503);

export const selfOf = (request: FastifyRequest): Self => ({
  caller: request.caller,
  user: request.user,
  sessionToken: sessionTokenOf(request),
});

export const usedFrom = (request: FastifyRequest): UsedFrom => ({
  address: callerAddress(request),
  browser: browserOf(request.headers),
});

const giveProof = (app: ApiApp, ctx: Context): void => {
  app.post(
    '/session/proof',
    {
      config: { withoutFactor: true },
      schema: {
        operationId: 'giveProof',
        summary: 'Confirm your identity',
        description:
          'With your password or a code of your second factor. For ten minutes this session may then do what is otherwise answered with 403 `PROOF_REQUIRED`; signing in counts as well. A session may be wrong ten times; then it ends.',
        tags,
        body: Proof,
        response: { 204: nothing('Confirmed.'), ...WRITE },
      },
    },
    async (request, reply) => {
      await prove(ctx, selfOf(request), request.body);
      return reply.code(204).send(null);
    },
  );
};

const changeEmail = (app: ApiApp, ctx: Context): void => {
  app.put(
    '/session/email',
    {
      schema: {
        operationId: 'changeOwnEmail',
        summary: 'Change your own e-mail',
        description:
          'Takes your current password, or a code of your second factor. A session may be wrong about them ten times; then it ends.',
        tags,
        body: ChangeEmail,
        response: { 200: answer('The e-mail is changed.', SignedIn), ...WRITE, ...refusals(409) },
      },
    },
    async (request) => viewSignedIn(request.caller, await changeOwnEmail(ctx, selfOf(request), request.body)),
  );
};

const listSessions = (app: ApiApp, ctx: Context): void => {
  app.get(
    '/session/sessions',
    {
      schema: {
        operationId: 'listOwnSessions',
        summary: 'List your sessions',
        tags,
        response: { 200: answer('Where you are signed in.', OwnSessions), ...refusals(400, 401, 403, 503) },
      },
    },
    (request) => listOwnSessions(ctx, selfOf(request)),
  );
};

const endSessions = (app: ApiApp, ctx: Context): void => {
  app.delete(
    '/session/sessions',
    {
      schema: {
        operationId: 'endOtherSessions',
        summary: 'Sign out everywhere else',
        tags,
        response: { 204: nothing('Every session but this one has ended.'), ...WRITE },
      },
    },
    async (request, reply) => {
      await endOtherSessionsOf(ctx.db, request.user.id, sessionTokenOf(request));
      return reply.code(204).send(null);
    },
  );
  app.delete(
    '/session/sessions/:id',
    {
      schema: {
        operationId: 'endOwnSession',
        summary: 'Sign out one of your sessions',
        tags,
        params: z.object({ id: z.string() }),
        response: { 204: nothing('It has ended.'), ...WRITE, ...refusals(404) },
      },
    },
    async (request, reply) => {
      await endOwnSession(ctx, selfOf(request), request.params.id);
      return reply.code(204).send(null);
    },
  );
};

/** One's own account: proof of identity, e-mail, sessions. */
export const ownAccountRoutes = (app: ApiApp, ctx: Context): void => {
  for (const route of [giveProof, changeEmail, listSessions, endSessions]) route(app, ctx);
};
