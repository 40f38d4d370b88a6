// engines: sqlite, postgres

import { describe, expect } from 'vitest';
import type { TimelineEntry } from '../../contract/common.ts';
import { newRma, rulesOf, staffOf, UUID7 } from '../support/api.ts';
import { itWith } from '../support/fixtures.ts';
import { type Harness, sharedHarness } from '../support/harness.ts';
import { KINDS, walkThrough } from '../support/kinds.ts';
import { addReceiver, deliveriesOf } from '../support/outbox.ts';

const it = itWith(sharedHarness());

/** What staff see beyond what programs do. */
const FOR_STAFF = { assignee: null, dueAt: null };
const strictlyRising = (times: string[]) => expect([...new Set(times)].sort()).toEqual(times);

describe.each(KINDS)('changes at $path', (row) => {
  const { kind, path, walk } = row;
  const timelineOf = async (t: Harness, id: string): Promise<TimelineEntry[]> =>
    (await t.get(`${path}/${id}/timeline`)).body.items;

  it('are returned in pages, each entry once', async ({ t }) => {
    const { id } = await newRma(t, kind);
    await walkThrough(t, row, id);
    const count = walk.length + 1;
    const read = async (query: string) => (await t.get(`${path}/${id}/timeline?${query}`)).body;
    const { items, ...whole } = await read('');
    expect(whole).toEqual({ total: count, page: 1, limit: 500, totalPages: 1 });
    const pages = Math.ceil(count / 2);
    const found: unknown[] = [];
    for (let page = 1; page <= pages; page += 1) {
      const { items: some, ...rest } = await read(`limit=2&page=${page}`);
      expect(rest).toEqual({ total: count, page, limit: 2, totalPages: pages });
      found.push(...some);
    }
    expect(found).toEqual(items);
    expect(await read(`page=${pages + 1}&limit=2`)).toMatchObject({ items: [], total: count });
    expect(await read(`limit=${count}`)).toMatchObject({ total: count, totalPages: 1 });
    for (const wrong of ['limit=0', 'limit=501', 'page=0', 'limit=x'])
      expect(Object.keys(rulesOf(await t.get(`${path}/${id}/timeline?${wrong}`)))).toEqual([
        wrong.split('=')[0],
      ]);
  });

  it('update their own return and no other', async ({ t }) => {
    const bystander = await newRma(t, kind);
    await walkThrough(t, row, (await newRma(t, kind)).id);
    expect((await t.get(`${path}/${bystander.id}`)).body).toEqual(bystander);
    expect(await timelineOf(t, bystander.id)).toHaveLength(1);
  });

  it.for([-60 * 60_000, 60_000])(
    'have increasing times after the clock moved by %s ms, and createdAt stays',
    async (ms, { t }) => {
      const { id, createdAt } = await newRma(t, kind);
      t.clock.advance(ms);
      const times: string[] = [createdAt];
      for (const { take } of walk) {
        const after = await take(t, id);
        expect(after.createdAt).toBe(createdAt);
        times.push(after.updatedAt);
      }
      strictlyRising(times);
      if (ms > 0) expect(Date.parse(times[1] ?? '') - Date.parse(createdAt)).toBeGreaterThanOrEqual(ms);
    },
  );
});

describe.each(KINDS)('a note at $path', ({ kind, path, statuses, reach, note }) => {
  it('is in the timeline, sends no event and counts as a change', async ({ t }) => {
    const client = await addReceiver(t);
    const before = await newRma(t, kind, {}, { key: client.apiKey });
    const events = await deliveriesOf(t);
    expect(events).toHaveLength(1);
    t.clock.advance(60_000);

    const text = 'Called the customer:\n"Friday" 🙂';
    const after = await note(t, before.id, text, staffOf(t, { id: null, name: 'Sam' }));
    expect(after).toEqual({ ...before, ...FOR_STAFF, updatedAt: after.updatedAt });
    expect(Date.parse(after.updatedAt) - Date.parse(before.updatedAt)).toBeGreaterThanOrEqual(60_000);
    expect((await t.get(`${path}/${before.id}`)).body).toEqual({ ...before, updatedAt: after.updatedAt });
    expect((await t.get(`${path}/${before.id}/timeline`)).body.items.slice(1)).toEqual([
      {
        id: expect.stringMatching(UUID7),
        type: 'NOTE_ADDED',
        at: after.updatedAt,
        actor: { type: 'USER', id: null, name: 'Sam' },
        fromStatus: before.status,
        toStatus: before.status,
        note: text,
        data: {},
      },
    ]);
    expect(await deliveriesOf(t)).toEqual(events);
    const since = new URLSearchParams({ updatedSince: after.updatedAt });
    expect((await t.get(`${path}?${since}`)).body).toMatchObject({ total: 1, items: [{ id: before.id }] });
  });

  it('is allowed in every status', async ({ t }) => {
    for (const status of statuses)
      expect(await note(t, (await reach(t, status)).id, 'x')).toMatchObject({ status });
  });
});
