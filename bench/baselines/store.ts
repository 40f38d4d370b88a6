import type { RepairRow } from './repair.ts';

/** The least a database must do for each piece of work, one round trip or one transaction each. */
export interface Store {
  /** Counter, repair, timeline entry and outbox row; sets the repair's number. */
  create(repair: RepairRow): Promise<void> | void;
  /** Counter, repair, timeline entry, event, outbox row and totals; undefined where there is no such repair. */
  move(shopId: string, id: string, status: string): Promise<RepairRow | undefined> | RepairRow | undefined;
  get(shopId: string, id: string): Promise<RepairRow | undefined> | RepairRow | undefined;
  /** The newest twenty, not counted. */
  page(shopId: string): Promise<RepairRow[]> | RepairRow[];
}
