import { createClient } from '../../src/api-clients/actions.ts';
import { OPERATOR } from '../../src/audit/store.ts';
import { createView } from '../../src/saved-views/actions.ts';
import type { Shop } from '../../src/shops/plans.ts';
import { enqueueTest } from '../../src/webhooks/outbox.ts';
import { newUser, type Person, signInAs } from './admin.ts';
import { ADMIN_ROUTES } from './admin-routes.ts';
import { endpoints, newRma } from './api.ts';
import type { Answer, Harness } from './harness.ts';

// Every route of both APIs whose address names something by its id, as the OpenAPI documents list them.

/** What an address can name, by its collection. */
export const COLLECTIONS = [
  'offline-repairs',
  'trade-returns',
  'deliveries',
  'clients',
  'users',
  'views',
  'session/sessions',
] as const;
type Collection = (typeof COLLECTIONS)[number];
export type Things = Record<Collection, string>;

export interface IdRoute {
  name: string;
  isExternal: boolean;
  collection: Collection;
  ask(id: string): Promise<Answer>;
}

const collectionIn = (template: string): Collection => {
  const found = COLLECTIONS.find((each) => template.startsWith(`/${each}/`));
  if (!found) throw new Error(`nobody knows what the id in ${template} names`);
  return found;
};

/** The same in every request, so that whole answers can be compared. */
const headers = { 'x-request-id': 'the-same-for-all' };

/** As the first client's program and as Admins call them, in turns: a session has a limit. A route without a body that it takes fails. */
export const idRoutes = (t: Harness, admins: Person[], key = t.client.apiKey): IdRoute[] => {
  const external = endpoints(t)
    .filter(({ hasId }) => hasId)
    .map(({ name, template, method, path, good }) => ({
      name,
      isExternal: true,
      collection: collectionIn(template),
      ask: (id: string) => t.send(path(id), { method, body: good, key, headers }),
    }));
  const { paths } = t.app.adminSwagger() as { paths: Record<string, object> };
  const own = Object.entries(paths)
    .filter(([template]) => template.includes('{'))
    .flatMap(([template, operations], index) =>
      Object.keys(operations).map((verb) => {
        const method = verb.toUpperCase();
        const route = ADMIN_ROUTES[`${method} ${template}`];
        if (!route) throw new Error(`no test body for ${method} ${template}`);
        return {
          name: `admin ${method} ${template}`,
          isExternal: false,
          collection: collectionIn(template),
          ask: (id: string) =>
            admins[index % admins.length]?.send(template.replace(/\{\w+\}/, id), {
              method,
              body: route.body,
              headers,
            }) as Promise<Answer>,
        };
      }),
    );
  return [...external, ...own];
};

/** One of everything, in a shop. */
export const makeThings = async (t: Harness, shop: Shop, key: string): Promise<Things> => {
  const { ctx } = t;
  const user = await newUser(t, { shop, role: 'STAFF' });
  const client = await createClient(ctx, OPERATOR, { shopId: shop.id, name: 'ERP', webhookUrl: null });
  const viewer = { id: user.id, shopId: shop.id, role: 'ADMIN' as const };
  const view = { kind: 'OFFLINE_REPAIR' as const, name: `View of ${user.id}`, search: {}, shared: true };
  return {
    'offline-repairs': (await newRma(t, 'offline-repairs', {}, { key })).id,
    'trade-returns': (await newRma(t, 'trade-returns', {}, { key })).id,
    deliveries: (await enqueueTest(ctx.db, client.id, ctx.clock.now())).id,
    clients: client.id,
    users: user.id,
    views: (await createView(ctx, viewer, view)).id,
    'session/sessions': (await (await signInAs(t, user)).get('/session/sessions')).body.items[0].id,
  };
};
