import { expect, it } from 'vitest';
import { takeSeen } from './browser.ts';

// A journey: what people mainly do on a page, once, in one colour scheme and width, with axe. It names the pages as
// admin/src/router.tsx does; test/browser/journeys/every-page.test.ts asks for one of each page.

/** Ids have digits, words such as `new` have none. */
const patternOf = (route: string): RegExp =>
  new RegExp(`^/admin${route.replace(/\$\w*/g, '[^/]*\\d[^/]*')}$`);

/** A test whose pages axe looks at while it runs. */
export const journey = (routes: string[], name: string, run: () => Promise<void>): void => {
  it(name, async () => {
    takeSeen();
    await run();
    const seen = takeSeen();
    const missed = routes.filter((route) => !seen.some((path) => patternOf(route).test(path)));
    expect(missed, 'pages that axe did not look at').toEqual([]);
  });
};
