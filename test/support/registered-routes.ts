import type { Harness } from './harness.ts';

/** Every address below a base path that the router knows, without the base path: `/users/:id`. */
export const registeredRoutes = ({ app }: Harness, basePath: string): string[] => {
  const parents: string[] = [];
  const paths: string[] = [];
  for (const line of app.printRoutes({ commonPrefix: false }).split('\n')) {
    const [, indent = '', part = '', methods] = /^([│ ]*)[└├]── (\S*)(?: \((.*)\))?$/.exec(line) ?? [];
    if (!part) continue;
    parents.length = indent.length / 4;
    parents.push(part);
    if (methods) paths.push(parents.join(''));
  }
  return paths.filter((path) => path.startsWith(`${basePath}/`)).map((path) => path.slice(basePath.length));
};
