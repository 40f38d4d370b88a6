import { expect, it } from 'vitest';
import { openWindow } from '../support/browser.ts';
import { harness } from '../support/harness.ts';

it('the reference page shows the API, with nothing from another host', async () => {
  const t = await harness();
  const page = await openWindow(t);
  await page.goto('/docs/reference');
  expect(new URL(page.url()).pathname).toBe('/docs/reference');
  await page
    .getByRole('heading', { name: /Handback/ })
    .first()
    .waitFor();
  const folder = process.env['SCREENSHOTS'];
  if (folder) await page.screenshot({ path: `${folder}/reference.png` });
  const { tags = [] } = t.app.swagger() as { tags?: { name: string }[] };
  expect(tags.length).toBeGreaterThan(1);
  for (const { name } of tags) await page.getByText(name, { exact: true }).first().waitFor();
  await expect.poll(() => page.title()).toContain('Handback');
});
