import { rmaNumber } from '../../contract/common.ts';
import type { RmaEventName } from '../../contract/event-feed.ts';
import type { WebhookEventData, WebhookEventName } from '../../contract/webhook-event.ts';
import type { Row } from '../db/schema.ts';
import { newId } from '../lib/ids.ts';
import { toIso } from '../lib/time.ts';
import { type Counter, nextPosition } from '../shops/counters.ts';

/** The fields of a return, of either kind, that every event contains. */
type EventSubject = Pick<Row<'offline_repairs'>, 'id' | 'number' | 'external_ref' | 'external_source'> & {
  status: string;
};

type Common = 'id' | 'rmaNumber' | 'externalRef' | 'externalSource' | 'status';
/** The fields of an event's data besides those that every event has. */
export type EventExtra<Name extends WebhookEventName> = Omit<WebhookEventData<Name>, Common>;
export type Event = { [Name in RmaEventName]: { name: Name; data: EventExtra<Name> } }[RmaEventName];

export type LoggedEvent = Row<'events'>;

/** Events are kept this long, and so are their deliveries, which read their bodies from them. */
export const KEPT_MS = 30 * 24 * 60 * 60 * 1000;

/** The exact bytes that a receiver gets. */
export const eventBody = (event: string, timestamp: string, data: object): string =>
  JSON.stringify({ event, timestamp, data });
export const bodyOf = (event: WebhookEventName, atMs: number, data: object): string =>
  eventBody(event, toIso(atMs), data);

/** Builds the event with the shop's next position in the feed. */
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
