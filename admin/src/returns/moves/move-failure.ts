import { ApiError } from '../../api.ts';
import { errorMessage } from '../../ui/error-message.ts';
import { describeStatus } from '../labels.ts';
import type { StaffMove } from './moves.ts';

/** Why a return was not moved. `item` is the return as it stands now. */
export const moveFailure = (
  error: unknown,
  move: Pick<StaffMove<never>, 'label'>,
  item: { status: string },
): string =>
  error instanceof ApiError && error.body?.code === 'MOVE_NOT_ALLOWED'
    ? `It is “${describeStatus(item.status).label}” now, so “${move.label}” is not possible any more.`
    : errorMessage(error);
