import { expect, it } from 'vitest';
import { RIGHTS } from '../../../contract/common.ts';
import { changeClient, createClient } from '../../../src/api-clients/actions.ts';
import { OPERATOR } from '../../../src/audit/store.ts';
import { createView } from '../../../src/saved-views/actions.ts';
import type { Shop } from '../../../src/shops/plans.ts';
import { enqueueTest } from '../../../src/webhooks/outbox.ts';
import { newPerson, newUser, type Person, signInAs } from '../../support/admin.ts';
import { ADMIN_ROUTES } from '../../support/admin-routes.ts';
import { allEndpoints, makeStaffIds, newRma, UNKNOWN_ID } from '../../support/api.ts';
import { dump } from '../../support/dump.ts';
import { measured } from '../../support/faults.ts';
import { type ApiResponse, type Harness, harness } from '../../support/harness.ts';

// Every route of both APIs whose address names something by its id, as the OpenAPI documents list them.

/** What an address can name, by its collection. */
const COLLECTIONS = [
  'offline-repairs',
  'trade-returns',
  'deliveries',
  'clients',
  'users',
  'former-employees',
  'views',
  'session/sessions',
] as const;
type Collection = (typeof COLLECTIONS)[number];
type Things = Record<Collection, string>;

const collectionIn = (template: string): Collection => {
  const found = COLLECTIONS.find((each) => template.startsWith(`/${each}/`));
  if (!found) throw new Error(`it is not known what the id in ${template} names`);
  return found;
};

/** The same in every request, so that whole responses can be compared. */
const headers = { 'x-request-id': 'the-same-for-all' };

/** As the first client's program and as Admins call them, in turns, since the limits are per person. Fails for a route without a good body. */
const idRoutes = (t: Harness, admins: Person[]) => {
  const external = allEndpoints(t)
    .filter(({ hasId }) => hasId)
    .map(({ name, template, method, path, good }) => ({
      name,
      isExternal: true,
      collection: collectionIn(template),
      ask: (id: string) => t.send(path(id), { method, body: good, headers }),
    }));
  const { paths } = t.app.adminSwagger() as { paths: Record<string, object> };
  let asked = 0;
  const own = Object.entries(paths)
    .filter(([template]) => template.includes('{'))
    .flatMap(([template, operations]) =>
      Object.keys(operations).map((verb) => {
        const method = verb.toUpperCase();
        const route = ADMIN_ROUTES[`${method} ${template}`];
        if (!route) throw new Error(`no test body for ${method} ${template}`);
        return {
          name: `admin ${method} ${template}`,
          isExternal: false,
          collection: collectionIn(template),
          ask: (id: string) =>
            admins[asked++ % admins.length]?.send(template.replace(/\{\w+\}/, id), {
              method,
              body: route.body,
              headers,
            }) as Promise<ApiResponse>,
        };
      }),
    );
  return [...external, ...own];
};
type IdRoute = ReturnType<typeof idRoutes>[number];

const makeThings = async (t: Harness, shop: Shop, key: string): Promise<Things> => {
  const { ctx } = t;
  const user = await newUser(t, { shop, role: 'STAFF' });
  const former = await newUser(t, { shop, role: 'STAFF' });
  const admin = await newPerson(t, { shop });
  expect(await admin.delete(`/users/${former.id}`)).toHaveStatus(204);
  const client = await createClient(ctx, OPERATOR, { shopId: shop.id, name: 'ERP', webhookUrl: null });
  const viewer = { user: { id: user.id, role: 'ADMIN' as const }, caller: { shop } };
  const view = { kind: 'OFFLINE_REPAIR' as const, name: `View of ${user.id}`, search: {}, shared: true };
  return {
    'offline-repairs': (await newRma(t, 'offline-repairs', {}, { key })).id,
    'trade-returns': (await newRma(t, 'trade-returns', {}, { key })).id,
    deliveries: (await enqueueTest(ctx.db, client.id, ctx.clock.now())).id,
    clients: client.id,
    users: user.id,
    'former-employees': former.id,
    views: (await createView(ctx, viewer, view)).id,
    'session/sessions': (await (await signInAs(t, user)).get('/session/sessions')).body.items[0].id,
  };
};

/** Headers that differ between any two requests. */
const DIFFERS = new Set(['date', 'connection', 'keep-alive', 'ratelimit-remaining', 'ratelimit-reset']);

/** Everything that a caller can see of a response. */
const seen = ({ status, headers, body }: ApiResponse) => ({
  status,
  headers: [...headers].filter(([name]) => !DIFFERS.has(name)),
  text: typeof body === 'string' ? body : JSON.stringify(body),
});

/** Variants of the id, and texts that are not ids. */
const malformed = (id: string): Record<string, string> =>
  Object.fromEntries(
    [
      ...['1', 'null', '%00', '%20', '%ZZ', '..%2F..%2Fetc%2Fpasswd', "'%20or%201=1%20--"],
      ...['%F0%9F%99%82', '%C3%A4', '00000000-0000-0000-0000-000000000000', 'x'.repeat(5000)],
      ...[id.slice(0, -1), `${id}0`, `${id}%20`, `%7B${id}%7D`, id.replaceAll('-', '')],
    ].map((text) => [`malformed: ${text.slice(0, 50)}`, text]),
  );

interface Scene {
  own: Things;
  foreign: Things;
  staffMade: Partial<Things>;
  deleted: Partial<Things>;
  /** A view that a colleague keeps to themselves; a delivery of another client. */
  colleagues: Partial<Things>;
}

/** What a route must not tell from an id that is not known, with words for it. */
const strangeIds = (scene: Scene, { collection, isExternal }: IdRoute): Record<string, string> => {
  const { own, foreign, staffMade, deleted, colleagues } = scene;
  const ofOthers = COLLECTIONS.filter((each) => each !== collection);
  const named = (words: string, id: string | undefined) => (id === undefined ? [] : [[words, id]]);
  return Object.fromEntries([
    ["another shop's", foreign[collection]],
    ...ofOthers.map((each) => [`of the kind ${each}`, own[each]]),
    ...ofOthers.map((each) => [`another shop's, of the kind ${each}`, foreign[each]]),
    ...named('deleted', deleted[collection]),
    ...named("a colleague's", colleagues[collection]),
    ...(isExternal ? named('made by staff', staffMade[collection]) : []),
    ...Object.entries(malformed(own[collection])),
  ]);
};

it("every route with an id treats another shop's, another kind's, a deleted and a malformed one as unknown", async () => {
  const t = await harness();
  const admin = await newPerson(t);
  const other = await t.addShop();
  await changeClient(t.ctx, OPERATOR, t.client.id, { rights: [...RIGHTS] });
  const own = await makeThings(t, t.shop, t.client.apiKey);
  const gone = await makeThings(t, t.shop, t.client.apiKey);
  for (const path of [`/users/${gone.users}`, `/views/${gone.views}`])
    expect(await admin.delete(path)).toHaveStatus(204);
  await t.ctx.db.deleteFrom('webhook_deliveries').where('id', '=', gone.deliveries).execute();
  const colleague = { user: { id: (await newUser(t)).id, role: 'ADMIN' as const }, caller: { shop: t.shop } };
  const view = { kind: 'OFFLINE_REPAIR' as const, name: 'Private', search: {}, shared: false };
  const scene: Scene = {
    own,
    foreign: await makeThings(t, other.shop, other.client.apiKey),
    staffMade: await makeStaffIds(t),
    deleted: { users: gone.users, views: gone.views, deliveries: gone.deliveries },
    colleagues: { views: (await createView(t.ctx, colleague, view)).id, deliveries: own.deliveries },
  };
  const admins = [admin, await newPerson(t), await newPerson(t)];
  const before = await dump(t);
  const routes = idRoutes(t, admins);
  expect(routes.filter(({ isExternal }) => isExternal).length).toBeGreaterThanOrEqual(9);
  expect(routes.filter(({ isExternal }) => !isExternal).length).toBeGreaterThanOrEqual(30);

  const unlike: Record<string, unknown>[] = [];
  let asked = 0;
  for (const route of routes) {
    const unknownResponse = await route.ask(UNKNOWN_ID);
    expect(unknownResponse).toHaveStatus(404);
    const unknown = seen(unknownResponse);
    await Promise.all(
      Object.entries(strangeIds(scene, route)).map(async ([words, id]) => {
        asked += 1;
        const response = seen(await route.ask(id));
        if (JSON.stringify(response) !== JSON.stringify(unknown))
          unlike.push({ route: route.name, words, response, unknown });
      }),
    );
  }
  expect(unlike).toEqual([]);
  expect(await dump(t)).toEqual(before);
  measured(11, `${routes.length} routes, ${asked} ids, 0 distinguishable`);
});
