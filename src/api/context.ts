import type { Authenticate } from '../api-clients/authenticate.ts';
import type { EventServices } from '../events/routes.ts';
import type { ReturnServices } from '../returns/services.ts';
import type { StaffServices } from '../staff/types.ts';
import type { WebhookServices } from '../webhooks/services.ts';

/**
 * All services of a process, each built once (`app/context.ts`). A feature declares the ones it needs; only this layer and those
 * above know all.
 */
export interface Context extends ReturnServices, EventServices, StaffServices, WebhookServices {
  authenticate: Authenticate;
}
