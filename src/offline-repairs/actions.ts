import type { Updateable } from 'kysely';
import type { z } from 'zod';
import { listEnvelope } from '../../contract/common.ts';
import {
  DEFAULT_START_STATUS,
  OFFLINE_REPAIR_MOVES,
  type OfflineRepairAction,
} from '../../contract/lifecycle.ts';
import type {
  CreateOfflineRepair,
  OfflineRepair,
  OfflineRepairActionBody,
  OfflineRepairQuery,
} from '../../contract/offline-repair.ts';
import type { Caller } from '../caller.ts';
import type { Context } from '../context.ts';
import type { OfflineRepairTable, Row } from '../db/tables.ts';
import { newId } from '../ids.ts';
import { type Created, createOnce } from '../rma/idempotency.ts';
import { nextInstant, recording } from '../rma/record.ts';
import { readTimeline } from '../rma/timeline.ts';
import { takePlace } from '../shops/allowance.ts';
import type { Event, EventExtra } from '../webhooks/outbox.ts';
import { findRepair, insertRepair, listRepairs, lockRepair, updateRepair } from './store.ts';
import { viewOfflineRepair } from './view.ts';

export const createOfflineRepair = (
  ctx: Context,
  caller: Caller,
  body: CreateOfflineRepair,
  key?: string,
): Promise<Created<OfflineRepair>> =>
  createOnce(ctx, caller, { path: 'offline-repairs', body, key }, async (trx, record, nowMs) => {
    const { shop, actor } = caller;
    const number = await takePlace(trx, shop, nowMs);
    const row = await insertRepair(
      trx,
      {
        id: newId(nowMs),
        shop_id: shop.id,
        client_id: actor.type === 'API_CLIENT' ? actor.id : null,
        number,
        status: body.startStatus ?? DEFAULT_START_STATUS,
        external_ref: body.externalRef,
        external_source: body.externalSource,
        order_number: body.orderNumber,
        customer_email: body.customerEmail,
        customer_name: body.customerName,
        customer_phone: body.customerPhone,
        faulty_item: JSON.stringify(body.faultyItem),
        fault_description: body.faultDescription,
        store_id: body.storeId,
        replacement_sku: body.replacementSku,
        notes: body.notes,
        tracking_number: body.tracking?.trackingNumber ?? null,
        carrier_name: body.tracking?.carrierName ?? null,
        offline_disposition: null,
        assigned_to_id: null,
        repair_notes: null,
        created_at: nowMs,
        updated_at: nowMs,
      },
      body.faultyItem.sku,
    );
    const repair = viewOfflineRepair(row);
    await record(row, {
      type: 'CREATED',
      at: nowMs,
      fromStatus: null,
      note: body.notes,
      data: body.tracking ? { ...body.tracking } : {},
      event: { name: 'offline_repair.created', data: repair },
    });
    return repair;
  });

export const getOfflineRepair = async (ctx: Context, caller: Caller, id: string): Promise<OfflineRepair> =>
  viewOfflineRepair(await findRepair(ctx.db, caller, id));

export const listOfflineRepairs = async (ctx: Context, caller: Caller, query: OfflineRepairQuery) => {
  const { rows, total } = await listRepairs(ctx.db, caller, query);
  return listEnvelope(rows.map(viewOfflineRepair), total, query);
};

export const getOfflineRepairTimeline = async (ctx: Context, caller: Caller, id: string) =>
  readTimeline(ctx.db, (await findRepair(ctx.db, caller, id)).id);

export type ActionBody<Action extends OfflineRepairAction> = z.infer<
  (typeof OfflineRepairActionBody)[Action]
>;

type Repair = Row<'offline_repairs'>;
type EventOf<Action extends OfflineRepairAction> = (typeof OFFLINE_REPAIR_MOVES)[Action]['event'];

interface Effect<Action extends OfflineRepairAction> {
  set?: Updateable<OfflineRepairTable>;
  /** What the timeline keeps. */
  note?: string | null;
  data?: Record<string, unknown>;
  /** What the event tells beyond what all events do. */
  tells(before: Repair, after: Repair): EventExtra<EventOf<Action>>;
}

/** What each action's body changes and tells; status, timeline entry and event are in the table of moves. */
const EFFECTS: { [Action in OfflineRepairAction]: (body: ActionBody<Action>) => Effect<Action> } = {
  tracking: ({ trackingNumber, carrierName }) => ({
    set: { tracking_number: trackingNumber, carrier_name: carrierName },
    data: { trackingNumber, carrierName },
    tells: () => ({ trackingNumber, carrierName }),
  }),
  'begin-diagnostics': ({ notes }) => ({
    note: notes,
    tells: (before) => ({ previousStatus: before.status }),
  }),
  // A technician or a note given earlier stays until another one is named.
  'begin-repair': ({ repairNotes, assignedToId }) => ({
    set: {
      ...(repairNotes === null ? {} : { repair_notes: repairNotes }),
      ...(assignedToId === null ? {} : { assigned_to_id: assignedToId }),
    },
    note: repairNotes,
    data: assignedToId === null ? {} : { assignedToId },
    tells: (before, after) => ({ previousStatus: before.status, assignedToId: after.assigned_to_id }),
  }),
  resolve: ({ offlineDisposition, notes }) => ({
    set: { offline_disposition: offlineDisposition },
    note: notes,
    data: { offlineDisposition },
    tells: (before) => ({ offlineDisposition, previousStatus: before.status }),
  }),
  close: () => ({
    tells: (before, after) => ({
      previousStatus: before.status,
      offlineDisposition: after.offline_disposition,
    }),
  }),
};

export const moveOfflineRepair = <Action extends OfflineRepairAction>(
  ctx: Context,
  caller: Caller,
  id: string,
  action: Action,
  body: ActionBody<Action>,
): Promise<OfflineRepair> =>
  recording(ctx, caller, async (trx, record) => {
    const before = await lockRepair(trx, caller, id);
    const { to, entry, event } = OFFLINE_REPAIR_MOVES[action];
    const { set = {}, note = null, data = {}, tells } = EFFECTS[action](body);
    const at = nextInstant(ctx.clock.now(), before.updated_at);
    const after = await updateRepair(trx, before.id, { ...set, status: to ?? before.status, updated_at: at });
    await record(after, {
      type: entry,
      at,
      fromStatus: before.status,
      note,
      data,
      event: { name: event, data: tells(before, after) } as Event,
    });
    return viewOfflineRepair(after);
  });
