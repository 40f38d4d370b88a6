import { describe, expect } from 'vitest';
import { ADMIN_BASE_PATH } from '../../contract/admin-people.ts';
import { type AdminCaller, adminCaller, newPerson, newUser } from '../support/admin.ts';
import { ADMIN_ROUTES, ANYBODY } from '../support/admin-routes.ts';
import { itWith } from '../support/fixtures.ts';
import { type Harness, sharedHarness } from '../support/harness.ts';
import { registeredRoutes } from '../support/registered-routes.ts';

const it = itWith(sharedHarness());

// Who may call what: every route of the admin API, for every role. A route that is not in the table fails the test.

/** Every address below the admin API that the router knows, with the methods that it takes. */
const registered = async (t: Harness): Promise<string[]> => {
  const names = await Promise.all(
    registeredRoutes(t, ADMIN_BASE_PATH).map(async (path) => {
      const response = await adminCaller(t).send(path.replace(/:\w+/g, 'x'), { method: 'OPTIONS' });
      const methods = (response.headers.get('allow') ?? '').split(', ').filter((method) => method !== 'HEAD');
      return methods.map((method) => `${method} ${path.replace(/:(\w+)/g, '{$1}')}`);
    }),
  );
  return names.flat().sort();
};

const OPEN_TO_ALL = ['GET /openapi.json'];

describe('the routes of the admin API', () => {
  it('are all in the table, and all in the OpenAPI document', async ({ t }) => {
    const all = await registered(t);
    expect(all).toEqual([...Object.keys(ADMIN_ROUTES), ...OPEN_TO_ALL].sort());
    const response = await adminCaller(t).get('/openapi.json');
    expect(response).toHaveStatus(200);
    expect(response.body.openapi).toMatch(/^3\.1\./);
    const told = Object.entries(response.body.paths as Record<string, object>).flatMap(([path, operations]) =>
      Object.keys(operations).map((method) => `${method.toUpperCase()} ${path}`),
    );
    expect(told.sort()).toEqual(Object.keys(ADMIN_ROUTES).sort());
  });

  it('are not in the external document, and the external ones are not in theirs', async ({ t }) => {
    const external = JSON.stringify(t.app.swagger());
    for (const word of ['/admin', 'handback_session', 'SignIn', 'AuditEntry', 'ADMIN_REQUIRED'])
      expect(external).not.toContain(word);
    const own = JSON.stringify(t.app.adminSwagger());
    for (const word of ['X-Api-Key', 'RateLimit-Limit']) expect(own).not.toContain(word);
  });

  it('return the expected status to every role', async ({ t }) => {
    await newUser(t, ANYBODY);
    const { shop } = await t.addShop();
    const makePeople = async (): Promise<AdminCaller[]> => [
      adminCaller(t),
      await newPerson(t, { role: 'STAFF' }),
      await newPerson(t),
      await newPerson(t, { shop }),
    ];
    const usual = await makePeople();
    const seen: Record<string, number[]> = {};
    for (const [name, { id, body, query = '', endsSession, codes = {} }] of Object.entries(ADMIN_ROUTES)) {
      const [method = '', template = ''] = name.split(' ');
      const statuses: number[] = [];
      for (const person of endsSession ? await makePeople() : usual) {
        const path = `${template.replace('{id}', id ? await id(t) : '')}${query}`;
        const response = await person.send(path, {
          method,
          body: typeof body === 'function' ? body() : body,
        });
        if (response.status >= 400)
          expect(response).toFailWith(response.status, { 403: 'ADMIN_REQUIRED', ...codes }[response.status]);
        statuses.push(response.status);
      }
      seen[name] = statuses;
    }
    expect(seen).toEqual(
      Object.fromEntries(Object.entries(ADMIN_ROUTES).map(([name, { expected }]) => [name, expected])),
    );
  });
});
