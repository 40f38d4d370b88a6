import type { TimelineType } from '../../../contract/lifecycle.ts';
import type { Event } from '../../events/event.ts';
import type { ReturnRow } from '../store.ts';

/** The effect of a change on a return, computed from its current row. */
export interface ChangePlan {
  set: { status?: string; assignee_id?: string | null; [column: string]: unknown };
  entry: TimelineType;
  note: string | null;
  data: object;
  /** Builds the event from the changed return; null if the change has no event. */
  event: ((after: ReturnRow) => Event) | null;
}
