import type { FastifyInstance, FastifyRequest } from 'fastify';
import { CreatedUser, NewLink } from '../../contract/admin-access.ts';
import { ChangeUser, CreateUser, GiveLink, User, UserList, UserQuery } from '../../contract/admin-people.ts';
import { PeopleList } from '../../contract/admin-returns.ts';
import { routesOf } from '../http/route.ts';
import { addPerson, createLink } from './links.ts';
import { resetFactor } from './second-factor.ts';
import type { StaffServices } from './types.ts';
import { changeUser, listPeople, listUsers, removeUser } from './users.ts';

const teamRoutes = (app: FastifyInstance, ctx: StaffServices): void => {
  const route = routesOf(app, { tag: 'Team', role: 'ADMIN' });
  const { publicUrl, publicUrlIsSet } = ctx.config;
  /** Returns PUBLIC_URL or, without it, the origin of the Admin's browser, which the gate has checked. */
  const baseUrlFor = ({ headers: { origin } }: FastifyRequest): string =>
    publicUrlIsSet || !origin ? publicUrl : new URL(origin).origin;
  route({
    at: 'GET /users',
    operationId: 'listUsers',
    summary: "List the shop's people",
    query: UserQuery,
    response: ['A page of people.', UserList],
    handle: ({ caller, query }) => listUsers(ctx, caller, query),
  });
  route({
    at: 'POST /users',
    operationId: 'createUser',
    proof: true,
    summary: 'Add a person',
    description:
      'An email can be used once in the whole service. Without `password` the response has a link, valid once within 72 hours, with which the person chooses one; if the service sends mails, they also get it by email.',
    body: CreateUser,
    response: ['The person.', CreatedUser],
    status: 201,
    errors: [409],
    handle: (request) => addPerson(ctx, request.caller, request.body, baseUrlFor(request)),
  });
  route({
    at: 'PATCH /users/:id',
    operationId: 'changeUser',
    proof: true,
    summary: "Change a person's email, name, role or password",
    description:
      'Change your own email and password on your account page. A new password ends all their sessions; for a person who signs in through the identity provider and has none it takes `besideProvider` (409 `PROVIDER_ONLY`). An `email` counts as confirmed, also if it is the present one. The role of the last Admin of a shop cannot be changed.',
    body: ChangeUser,
    response: ['The person as they are now.', User],
    errors: [409],
    handle: ({ caller, params, body }) => changeUser(ctx, caller, params.id, body),
  });
  route({
    at: 'DELETE /users/:id',
    operationId: 'removeUser',
    proof: true,
    summary: 'Remove a person',
    description: 'Ends all their sessions. The last Admin of a shop cannot be removed.',
    response: ['Removed.'],
    errors: [409],
    handle: ({ caller, params }) => removeUser(ctx, caller, params.id),
  });
  route({
    at: 'POST /users/:id/link',
    operationId: 'makeLink',
    proof: true,
    summary: 'Create a link with which a person chooses a password',
    description:
      'Valid once: within an hour, or within 72 hours for a person who never signed in. Not for yourself: your account page changes your own password. Earlier links no longer work. For a person who signs in through the identity provider and has no password it takes `besideProvider` (409 `PROVIDER_ONLY`). If the service sends mails, they also get it by email.',
    body: GiveLink,
    response: ['The link.', NewLink],
    status: 201,
    errors: [409],
    handle: (request) =>
      createLink(ctx, request.caller, request.params.id, request.body, baseUrlFor(request)),
  });
};

export const userRoutes = (app: FastifyInstance, ctx: StaffServices): void => {
  teamRoutes(app, ctx);
  const route = routesOf(app, { tag: 'Team' });
  route({
    at: 'DELETE /users/:id/second-factor',
    operationId: 'resetSecondFactor',
    role: 'ADMIN',
    proof: true,
    summary: "Remove a person's second factor",
    description:
      'For a person who lost their phone. Ends all their sessions. Turn off your own on your account page.',
    response: ['Removed.'],
    errors: [409],
    handle: ({ caller, params }) => resetFactor(ctx, caller, params.id),
  });
  route({
    at: 'GET /people',
    operationId: 'listPeople',
    summary: 'List the people to whom returns can be assigned',
    response: ["The shop's people.", PeopleList],
    handle: ({ caller }) => listPeople(ctx, caller),
  });
};
