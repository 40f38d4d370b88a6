import type { PagingServices } from '../paging/services.ts';
import type { AddressGuard } from './address-guard.ts';

/** A client whose receiver keeps failing or works again. */
export interface NotifiedClient {
  id: string;
  name: string;
  shopId: string;
  shopName: string;
}

/** The services for sending webhooks and showing their deliveries. */
export interface WebhookServices extends PagingServices {
  addressGuard: AddressGuard;
  /** Notifies the Admins of the client's shop that its receiver keeps failing with this error, or works again if it is null. */
  notifyReceiverState(client: NotifiedClient, error: string | null): Promise<void>;
}
