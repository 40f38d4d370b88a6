import type { RepairRow } from './repair.ts';

/** The least a database must do for each piece of work, one round trip or one transaction each. */
export interface Store {
  /** Counter, repair, timeline entry and outbox row; sets the repair's number. */
  create(repair: RepairRow): Promise<void> | void;
  get(shopId: string, id: string): Promise<RepairRow | undefined> | RepairRow | undefined;
  /** The newest twenty, not counted. */
  page(shopId: string): Promise<RepairRow[]> | RepairRow[];
}
