import type { PagingServices } from '../paging/services.ts';
import type { ChangeQueue } from './changes/change-queue.ts';
import type { ReturnLoader } from './store.ts';
import type { RecentTotals } from './totals.ts';

export interface ReturnServices extends PagingServices {
  changes: ChangeQueue;
  /** Reads returns by id. Concurrent calls share a query. */
  returnLoader: ReturnLoader;
  recentTotals: RecentTotals;
}
