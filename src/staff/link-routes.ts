import {
  AskForLink,
  GivenLink,
  LinkAsked,
  LinkTarget,
  SignInOptions,
  UseLink,
} from '../../contract/admin-access.ts';
import { SignedIn } from '../../contract/admin-people.ts';
import type { Context } from '../context.ts';
import { callerAddress } from '../http/caller-address.ts';
import { type ApiApp, answer, refusals } from '../http/openapi/route-schemas.ts';
import { choosePassword, viewLinkTarget } from './choose-password.ts';
import { deviceOf, setDeviceCookie, setSessionCookie } from './cookies.ts';
import { mailLinkLater } from './invitations.ts';
import { linkLimits } from './limits.ts';
import { usedFrom } from './own-account-routes.ts';
import { keptEmail } from './store.ts';

const tags = ['Session'];
const config = { isPublic: true };
const security: [] = [];
type Limits = ReturnType<typeof linkLimits>;

const options = (app: ApiApp, ctx: Context): void => {
  app.get(
    '/sign-in-options',
    {
      config,
      schema: {
        operationId: 'getSignInOptions',
        summary: 'What the sign-in page can offer',
        tags,
        security,
        response: { 200: answer('What there is.', SignInOptions), ...refusals(400, 503) },
      },
    },
    async () => ({ passwordLinks: ctx.mail.isOn }),
  );
};

const ask = (app: ApiApp, ctx: Context, limits: Limits): void => {
  app.post(
    '/password-links',
    {
      config,
      schema: {
        operationId: 'askForPasswordLink',
        summary: 'Ask for a link to choose a new password',
        description:
          'The link is mailed, at most three times an hour, if the address is known and the service sends mails. The answer is always the same.',
        tags,
        security,
        body: AskForLink,
        response: { 202: answer('Accepted.', LinkAsked), ...refusals(400, 403, 413, 415, 429, 503) },
      },
    },
    async (request, reply) => {
      await limits.beforeAsking(callerAddress(request));
      const email = keptEmail(request.body.email);
      if (await limits.mayMail(email)) mailLinkLater(ctx, email);
      return reply.code(202).send({ accepted: true });
    },
  );
};

const check = (app: ApiApp, ctx: Context, limits: Limits): void => {
  app.post(
    '/links/check',
    {
      config,
      schema: {
        operationId: 'checkLink',
        summary: 'Whose link it is',
        description: 'Changes nothing. The token goes into the body, so that it reaches no log.',
        tags,
        security,
        body: GivenLink,
        response: {
          200: answer('The link is good.', LinkTarget),
          ...refusals(400, 403, 410, 413, 415, 429, 503),
        },
      },
    },
    async (request) => {
      await limits.beforeLink(callerAddress(request));
      return viewLinkTarget(ctx, request.body.token);
    },
  );
};

const use = (app: ApiApp, ctx: Context, limits: Limits): void => {
  app.post(
    '/links/use',
    {
      config,
      schema: {
        operationId: 'useLink',
        summary: 'Choose a password with a link',
        description:
          'Works once, signs the person in, and ends their other sessions and links. Where a second factor is on, a code is needed as well; without one, or with a wrong one, the link stays good.',
        tags,
        security,
        body: UseLink,
        response: {
          200: answer('Signed in.', SignedIn),
          ...refusals(400, 401, 403, 410, 413, 415, 429, 503),
        },
      },
    },
    async (request, reply) => {
      const address = callerAddress(request);
      await limits.beforeLink(address);
      const { token, device, signedIn } = await choosePassword(
        ctx,
        { ...usedFrom(request), device: deviceOf(request) },
        request.body,
      );
      setSessionCookie(ctx.config, reply, token);
      setDeviceCookie(ctx.config, reply, device);
      return signedIn;
    },
  );
};

/** Links with which people choose a password; none of this needs a session. */
export const linkRoutes = (app: ApiApp, ctx: Context): void => {
  const limits = linkLimits(ctx);
  for (const route of [options, ask, check, use]) route(app, ctx, limits);
};
