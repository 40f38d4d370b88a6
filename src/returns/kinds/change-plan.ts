import type { TimelineType } from '../../../contract/lifecycle.ts';
import type { Event } from '../../events/event.ts';
import type { ReturnRow } from '../store.ts';

/** What a change does to a return, computed from its present row. */
export interface ChangePlan {
  set: { status?: string; assignee_id?: string | null; [column: string]: unknown };
  entry: TimelineType;
  note: string | null;
  data: object;
  /** Built from the return as the change leaves it; null: the change has no event. */
  event: ((after: ReturnRow) => Event) | null;
}
