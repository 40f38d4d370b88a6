import { PeopleList } from '../../contract/admin-returns.ts';
import type { Context } from '../context.ts';
import { type ApiApp, answer, refusals } from '../http/openapi/route-schemas.ts';
import { calledName, readTeam } from '../rma/people.ts';

export const peopleRoutes = (app: ApiApp, ctx: Context): void => {
  app.get(
    '/people',
    {
      schema: {
        operationId: 'listPeople',
        summary: 'Whom returns can be assigned to',
        tags: ['Team'],
        response: { 200: answer("The shop's people.", PeopleList), ...refusals(400, 401, 503) },
      },
    },
    async ({ caller }) => ({
      items: (await readTeam(ctx, caller.shop.id)).map((person) => ({ ...person, name: calledName(person) })),
    }),
  );
};
