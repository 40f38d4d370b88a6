import { describe, expect } from 'vitest';
import { DISPOSITIONS, OFFLINE_REPAIR_STATUSES, type OfflineRepairStatus } from '../../contract/lifecycle.ts';
import { askAll, endpoints, ISO, newRepair, UUID7 } from '../support/api.ts';
import { itWith } from '../support/fixtures.ts';
import { type Harness, sharedHarness } from '../support/harness.ts';
import { REPAIRS } from '../support/kinds.ts';
import { pluck } from '../support/responses.ts';

const it = itWith(sharedHarness());

/** What an action takes, where it leads and what it changes; type, note and data of its timeline entry. */
type Case = [
  action: string,
  body: object,
  to: OfflineRepairStatus | null,
  changes: object,
  type: string,
  note: string | null,
  data: object,
];

const TRACKING = { trackingNumber: 'JD0146000034', carrierName: 'DHL' };
const TECHNICIAN = { assignedToId: 'tech-12' };
const BEGUN = { repairNotes: 'New element', ...TECHNICIAN };
const RESTOCK = { offlineDisposition: 'RESTOCK_CHILD' };
const RESOLVED = { ...RESTOCK, notes: 'As new' };
const CASES: Case[] = [
  ['tracking', TRACKING, null, TRACKING, 'TRACKING_UPLOADED', null, TRACKING],
  ['begin-diagnostics', { notes: 'Opened' }, 'OFFLINE_DIAGNOSTICS', {}, 'STATUS_CHANGED', 'Opened', {}],
  ['begin-repair', BEGUN, 'OFFLINE_REPAIR', BEGUN, 'STATUS_CHANGED', 'New element', TECHNICIAN],
  ['resolve', RESOLVED, 'OFFLINE_RESOLVED', RESTOCK, 'DISPOSITION_SET', 'As new', RESTOCK],
  ['close', {}, 'OFFLINE_CLOSED', {}, 'CLOSED', null, {}],
];

const act = (t: Harness, id: string, action: string, body?: unknown) =>
  t.post(`/offline-repairs/${id}/${action}`, body);
const timelineOf = async (t: Harness, id: string) =>
  (await t.get(`/offline-repairs/${id}/timeline`)).body.items;

describe('an action', () => {
  it('has a test here for every action in the API', async ({ t }) => {
    const known = endpoints(t)
      .filter(({ method, template }) => method === 'POST' && template.startsWith('/offline-repairs/{id}/'))
      .map(({ template }) => template.split('/').at(-1));
    expect(CASES.map(([action]) => action).sort()).toEqual(known.sort());
  });

  it.for(CASES)('%s works from every status and returns the whole repair', async (row, { t }) => {
    const [action, body, to, changes, type, note, data] = row;
    for (const from of OFFLINE_REPAIR_STATUSES) {
      const before = (await t.get(`/offline-repairs/${(await REPAIRS.reach(t, from)).id}`)).body;
      expect(before.status).toBe(from);
      const earlier = await timelineOf(t, before.id);
      const response = await act(t, before.id, action, body);
      expect(response).toHaveStatus(200);
      expect(response.body).toEqual({
        ...before,
        ...changes,
        status: to ?? from,
        statusSince: to === null || to === from ? before.statusSince : response.body.updatedAt,
        updatedAt: expect.stringMatching(ISO),
      });
      expect(Date.parse(response.body.updatedAt)).toBeGreaterThan(Date.parse(before.updatedAt));
      expect((await t.get(`/offline-repairs/${before.id}`)).body).toEqual(response.body);
      expect(await timelineOf(t, before.id)).toEqual([
        ...earlier,
        {
          id: expect.stringMatching(UUID7),
          at: response.body.updatedAt,
          actor: { type: 'API_CLIENT', id: t.client.id, name: 'Till' },
          fromStatus: from,
          toStatus: response.body.status,
          type,
          note,
          data,
        },
      ]);
    }
  });

  it('changes nothing if it is refused', async ({ t }) => {
    const repair = await newRepair(t);
    const posts = endpoints(t).filter(({ hasId, method }) => hasId && method === 'POST');
    await askAll(posts, ({ path, bad }) => t.post(path(repair.id), bad));
    expect((await t.get(`/offline-repairs/${repair.id}`)).body).toEqual(repair);
    expect(await timelineOf(t, repair.id)).toHaveLength(1);
  });
});

it('new tracking replaces the old one, and the timeline keeps both', async ({ t }) => {
  const { id } = await newRepair(t, { tracking: TRACKING });
  const second = { trackingNumber: '1Z999', carrierName: 'UPS' };
  expect((await act(t, id, 'tracking', second)).body).toMatchObject(second);
  expect((await t.get(`/offline-repairs/${id}`)).body).toMatchObject(second);
  expect(await timelineOf(t, id)).toMatchObject([
    { type: 'CREATED', data: TRACKING },
    { type: 'TRACKING_UPLOADED', data: second },
  ]);
  for (const [action, body] of CASES.slice(1))
    expect((await act(t, id, action, body)).body).toMatchObject(second);
});

it('begin-repair keeps the earlier technician and notes unless it sets new ones', async ({ t }) => {
  const { id } = await newRepair(t);
  const begin = async (body?: unknown) => {
    const { assignedToId, repairNotes } = (await act(t, id, 'begin-repair', body)).body;
    return [assignedToId, repairNotes];
  };
  expect(await begin()).toEqual([null, null]);
  expect(await begin({ assignedToId: 'tech-1', repairNotes: 'one' })).toEqual(['tech-1', 'one']);
  expect(await begin()).toEqual(['tech-1', 'one']);
  expect(await begin({ assignedToId: null, repairNotes: '' })).toEqual(['tech-1', 'one']);
  expect(await begin({ repairNotes: 'two' })).toEqual(['tech-1', 'two']);
  expect(await begin({ assignedToId: 'tech-2' })).toEqual(['tech-2', 'two']);
  const [, ...entries] = await timelineOf(t, id);
  expect(entries.map(({ note, data }: { note: string; data: object }) => [note, data])).toEqual([
    [null, {}],
    ['one', { assignedToId: 'tech-1' }],
    [null, {}],
    [null, {}],
    ['two', {}],
    [null, { assignedToId: 'tech-2' }],
  ]);
});

it('resolve accepts every disposition, also when repeated, and later moves keep the last one', async ({
  t,
}) => {
  const { id } = await newRepair(t);
  for (const offlineDisposition of DISPOSITIONS) {
    const response = await act(t, id, 'resolve', { offlineDisposition });
    expect(response).toHaveStatus(200);
    expect(response.body).toMatchObject({ status: 'OFFLINE_RESOLVED', offlineDisposition });
  }
  const last = { status: 'OFFLINE_CLOSED', offlineDisposition: DISPOSITIONS.at(-1) };
  expect((await act(t, id, 'close')).body).toMatchObject(last);
});

it('the timeline names the client that acted', async ({ t, erp }) => {
  const { id } = await newRepair(t);
  await t.post(`/offline-repairs/${id}/close`, undefined, { key: erp.apiKey });
  expect(pluck(await timelineOf(t, id), 'actor')).toEqual([
    { type: 'API_CLIENT', id: t.client.id, name: 'Till' },
    { type: 'API_CLIENT', id: erp.id, name: 'ERP' },
  ]);
});
