import type { z } from 'zod';
import { TradeMove } from '../../../../contract/admin.ts';
import type { OfflineRepairAction } from '../../../../contract/lifecycle.ts';
import { OfflineRepairActionBody } from '../../../../contract/offline-repair.ts';
import { type Kind, REPAIRS } from '../kinds.ts';

/** The same schema that the service validates with. */
export const moveSchema = (kind: Kind, action: string): z.ZodType =>
  kind === REPAIRS ? OfflineRepairActionBody[action as OfflineRepairAction] : TradeMove;
