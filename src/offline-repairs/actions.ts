import type { OfflineRepairAction } from '../../contract/lifecycle.ts';
import type { OfflineRepair, OfflineRepairQuery } from '../../contract/offline-repair.ts';
import type { Caller } from '../caller.ts';
import type { Context } from '../context.ts';
import { actionsOf } from '../returns/actions.ts';
import { type ActionBody, OFFLINE_REPAIR } from '../returns/kinds/offline-repair.ts';
import { listRmas } from '../rma/list.ts';
import type { RmaFilters } from '../rma/list-query.ts';
import { viewFor } from '../rma/staff-view.ts';

const repairs = actionsOf(OFFLINE_REPAIR);

export const {
  create: createOfflineRepair,
  dryRun: tryOfflineRepair,
  get: getOfflineRepair,
  timeline: getOfflineRepairTimeline,
  note: noteOfflineRepair,
  assign: assignOfflineRepair,
  correct: correctOfflineRepair,
  related: relatedToOfflineRepair,
} = repairs;

export const moveOfflineRepair: <Action extends OfflineRepairAction>(
  ctx: Context,
  caller: Caller,
  id: string,
  action: Action,
  body: ActionBody<Action>,
  seen?: number,
) => Promise<OfflineRepair> = repairs.move;

interface StaffFilters extends RmaFilters {
  isDangerous?: boolean | undefined;
  disposition?: string | undefined;
}

export const listOfflineRepairs = async (
  ctx: Context,
  caller: Caller,
  query: OfflineRepairQuery & StaffFilters,
) =>
  listRmas(
    ctx,
    OFFLINE_REPAIR.table,
    caller,
    query,
    {
      number: query.rmaNumber,
      status: query.status,
      external_ref: query.externalRef,
      external_source: query.externalSource,
      order_number: query.orderNumber,
      store_id: query.storeId,
      serial_number: query.serialNumber,
      offline_disposition: query.disposition,
      is_dangerous: query.isDangerous === undefined ? undefined : Number(query.isDangerous),
    },
    await viewFor(ctx, caller, OFFLINE_REPAIR.view),
  );
