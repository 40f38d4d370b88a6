import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';

const ROUTE =
  /const (\w+) = createRoute\(\{\s*getParentRoute: \(\) => (\w+),\s*(?:path: '([^']*)'|id: '\w+')/g;

const routesOf = (router: string): string[] => {
  const found = [...router.matchAll(ROUTE)].map(([, name = '', parent = '', path = '']) => ({
    name,
    parent,
    path,
  }));
  expect(found.length, 'every route is read').toBe(router.match(/createRoute\(/g)?.length);
  const addressOf = (name: string): string => {
    const route = found.find((one) => one.name === name);
    return route ? addressOf(route.parent) + route.path : '';
  };
  return found
    .filter(({ name }) => !found.some(({ parent }) => parent === name))
    .map(({ name }) => addressOf(name));
};

const journeysOf = (source: string): string[] =>
  [...source.matchAll(/\bjourney\(\s*\[([^\]]*)\]/g)].flatMap(([, list = '']) =>
    [...list.matchAll(/'([^']+)'/g)].map(([, route = '']) => route),
  );

/** They lead elsewhere, and show nothing. */
const REDIRECTS = ['/bench', '/settings/'];

it('every page of the app is visited by a journey', () => {
  const folder = 'test/browser/journeys';
  const routes = routesOf(readFileSync('admin/src/router.tsx', 'utf8')).filter(
    (route) => !REDIRECTS.includes(route),
  );
  expect(routes).toContain('/settings/external-api/$id');
  const visited = readdirSync(folder).flatMap((file) => journeysOf(readFileSync(join(folder, file), 'utf8')));
  expect([...new Set(visited)].sort()).toEqual(routes.sort());
});
