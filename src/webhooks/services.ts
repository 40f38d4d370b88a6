import type { PagingServices } from '../paging/services.ts';
import type { AddressGuard } from './address-guard.ts';

/** A client whose receiver keeps failing, or works again. */
export interface NotifiedClient {
  id: string;
  name: string;
  shopId: string;
  shopName: string;
}

/** What sending webhooks needs, and what shows their deliveries. */
export interface WebhookServices extends PagingServices {
  addressGuard: AddressGuard;
  /** Tells the Admins of the client's shop that its receiver keeps failing, with this error; null: it works again. */
  notifyReceiverState(client: NotifiedClient, error: string | null): Promise<void>;
}
