import type { Caller } from '../../caller.ts';
import type { Row } from '../../db/schema.ts';
import type { Event, EventSubject } from '../../events/event.ts';
import { newId } from '../../ids.ts';
import { mustBeActive } from '../../shops/plans.ts';
import { type Created, type KeyUse, keyUse } from '../idempotency.ts';
import type { RmaTableName } from '../visibility.ts';

/** What both kinds of RMA begin with. */
export interface NewRma {
  id: string;
  shop_id: string;
  client_id: string | null;
  number: number;
  external_ref: string | null;
  external_source: string | null;
  created_at: number;
  updated_at: number;
  status_since: number;
  assignee_id: null;
}

interface Made<Table extends RmaTableName, Answer> {
  row: Row<Table> & EventSubject;
  answer: Answer;
  event: Event;
  note?: string | null;
  data?: Record<string, unknown>;
}

interface RequestFor<Table extends RmaTableName, Answer> {
  kind: Table;
  /** The collection's path, so that the same key on the other kind is another request. */
  path: string;
  body: { externalRef: string | null; externalSource: string | null };
  key: string | undefined;
  /** To be held against the shop's dangerous-goods rules. */
  sku?: string;
  make(rma: NewRma, isDangerous: boolean): Made<Table, Answer>;
}

/** A request to create an RMA of either kind. */
export type CreateRequest<Answer> = {
  [Table in RmaTableName]: RequestFor<Table, Answer>;
}[RmaTableName];

/** A creation that waits for its turn. */
export interface Creation {
  id: string;
  caller: Caller;
  request: CreateRequest<unknown>;
  use: KeyUse | null;
  nowMs: number;
}

/** What a request comes to, unless the shop may only read. */
export const creationOf = (caller: Caller, request: CreateRequest<unknown>, nowMs: number): Creation => {
  mustBeActive(caller.shop);
  const { key, path, body } = request;
  const { actor } = caller;
  const use = key === undefined || actor.id === null ? null : keyUse(actor.id, key, path, body);
  return { id: newId(nowMs), caller, request, use, nowMs };
};

/** How a creation ended, and whom its event is for. */
export interface Done {
  outcome: Created<unknown>;
  receiver: string | null;
}
