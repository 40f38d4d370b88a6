import type { FoundReturn } from '../../../contract/admin-search.ts';
import {
  ENDED_STATUSES,
  OFFLINE_REPAIR_MOVES,
  type OfflineRepairAction,
} from '../../../contract/lifecycle.ts';
import type { OfflineRepair } from '../../../contract/offline-repair.ts';
import type { TradeReturn } from '../../../contract/trade-return.ts';
import { type Kind, REPAIRS, TRADE_RETURNS } from '../returns/kinds.ts';
import { REPAIR_MOVES, type StaffMove, TRADE_MOVES } from '../returns/moves/moves.ts';

// What a scan may do, of either kind. A search shows only the status of a return, which is all that these ask for.

export interface BenchMove extends Pick<StaffMove<never>, 'action' | 'label' | 'done' | 'fields'> {
  isOpen(status: string): boolean;
  /** Whether the return would come back from where its work had ended. */
  reopens(status: string): boolean;
}

export interface BenchKind {
  kind: Kind;
  found: FoundReturn['kind'];
  moves: BenchMove[];
}

const hasEnded = (status: string): boolean =>
  (ENDED_STATUSES.offline_repairs as readonly string[]).includes(status);

export const BENCH_KINDS: BenchKind[] = [
  {
    kind: REPAIRS,
    found: 'OFFLINE_REPAIR',
    moves: REPAIR_MOVES.map((move) => ({
      ...move,
      isOpen: (status) => move.isOpen({ status } as OfflineRepair),
      reopens: (status) =>
        hasEnded(status) && OFFLINE_REPAIR_MOVES[move.action as OfflineRepairAction].to !== null,
    })),
  },
  {
    kind: TRADE_RETURNS,
    found: 'TRADE_RETURN',
    moves: TRADE_MOVES.map((move) => ({
      ...move,
      isOpen: (status) => move.isOpen({ status } as TradeReturn),
      reopens: () => false,
    })),
  },
];
