import { rmaNumber } from '../../contract/common.ts';
import type { RmaEventName } from '../../contract/event-feed.ts';
import type { WebhookEventData, WebhookEventName } from '../../contract/webhook-event.ts';
import type { Row } from '../db/schema.ts';
import { newId } from '../lib/ids.ts';
import { toIso } from '../lib/time.ts';
import { type Counter, nextPosition } from '../shops/counters.ts';

/** What an event holds of an RMA, of either kind. */
type EventSubject = Pick<Row<'offline_repairs'>, 'id' | 'number' | 'external_ref' | 'external_source'> & {
  status: string;
};

type Common = 'id' | 'rmaNumber' | 'externalRef' | 'externalSource' | 'status';
/** What an event's data holds beyond the fields that every event has. */
export type EventExtra<Name extends WebhookEventName> = Omit<WebhookEventData<Name>, Common>;
export type Event = { [Name in RmaEventName]: { name: Name; data: EventExtra<Name> } }[RmaEventName];

export type LoggedEvent = Row<'events'>;

/** For so long events are kept, and their deliveries, which find their bodies in them. */
export const KEPT_MS = 30 * 24 * 60 * 60 * 1000;

/** What a receiver gets, to the byte. */
export const eventBody = (event: string, timestamp: string, data: object): string =>
  JSON.stringify({ event, timestamp, data });
export const bodyOf = (event: WebhookEventName, atMs: number, data: object): string =>
  eventBody(event, toIso(atMs), data);

/** The event with the shop's next position, for the log. */
export const buildEvent = (
  counter: Counter,
  rma: EventSubject,
  atMs: number,
  { name, data }: Event,
): LoggedEvent => {
  const common = {
    id: rma.id,
    rmaNumber: rmaNumber(rma.number),
    externalRef: rma.external_ref,
    externalSource: rma.external_source,
    status: rma.status,
  };
  return {
    shop_id: counter.shop_id,
    position: nextPosition(counter),
    id: newId(atMs),
    rma_id: rma.id,
    event: name,
    at: atMs,
    body: bodyOf(name, atMs, { ...common, ...data }),
  };
};
