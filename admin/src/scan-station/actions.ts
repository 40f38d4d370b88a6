import type { z } from 'zod';
import type { FoundReturn } from '../../../contract/admin-search.ts';
import type { Timeline, TimelineEntry } from '../../../contract/common.ts';
import { OFFLINE_REPAIR_MOVES, TRADE_RETURN_MOVES, WAITING_FOR } from '../../../contract/lifecycle.ts';
import { api, errorMessage } from '../api.ts';
import { type AnyReturn, describeStatus, isEnded, KIND_OF, type Kind, REPAIRS } from '../returns/kinds.ts';
import { isConflict } from '../returns/moves/conflict.tsx';
import { moveSchema } from '../returns/moves/move-form.tsx';
import {
  type MoveBack,
  type MoveBody,
  type MoveField,
  moveBack,
  REPAIR_MOVES,
  type StaffMove,
  TRADE_MOVES,
} from '../returns/moves/moves.ts';
import { sendMove, setWaiting, undoMove, type Waiting } from '../returns/moves/toasts.tsx';
import { asTime, faultIn } from '../returns/moves/waiting-days.ts';
import { assign } from '../returns/person-select.tsx';
import { findReturns } from '../returns/queries.ts';
import { texts } from '../texts.ts';
import { formErrors } from '../ui/forms/form-errors.ts';
import { wordFor } from '../ui/known-word.ts';
import { formatRelative } from '../ui/relative-time.tsx';

// What a scan does: it finds a return, does the chosen action to it, and tells what became of it.

const words = texts.station;

type Values = Record<string, string>;

/** What was chosen once for all scans. Plain data, so that a reload keeps it. */
export interface Job {
  type: FoundReturn['kind'];
  action: string;
  values: Values;
}

interface Doing {
  kind: Kind;
  item: AnyReturn;
  values: Values;
  print(item: AnyReturn): Promise<void>;
}

interface Action {
  name: string;
  label: string;
  fields: readonly ActionField[];
  /** The return as it is afterwards. */
  run(doing: Doing): Promise<AnyReturn>;
  done(after: AnyReturn): string;
  /** Its own type only; else it is done to any return. */
  move?: StaffMove<never>;
}

interface ActionField extends Omit<MoveField, 'as'> {
  as: MoveField['as'] | 'person' | 'date';
}

const bodyOf = (kind: Kind, action: string, values: Values): MoveBody =>
  moveSchema(kind, action).parse(values) as MoveBody;

const moveAction = (move: StaffMove<never>): Action => ({
  name: move.action,
  label: move.label,
  fields: move.fields,
  run: ({ kind, item, values }) =>
    sendMove(kind, item.id, move.action, bodyOf(kind, move.action, values), item.updatedAt),
  done: () => move.done,
  move,
});

const OF_ANY_TYPE: Action[] = [
  {
    name: 'assign',
    label: words.assign,
    fields: [{ as: 'person', name: 'person', label: words.person, required: true }],
    run: ({ kind, item, values: { person = '' } }) => assign(kind, item.id, person),
    done: ({ assignee }) => (assignee ? words.assigned(assignee.name) : words.unassigned),
  },
  {
    name: 'print',
    label: words.print,
    fields: [],
    run: async ({ item, print }) => {
      await print(item);
      return item;
    },
    done: () => words.printed,
  },
  {
    name: 'waiting',
    label: words.waiting,
    fields: [
      {
        as: 'choice',
        name: 'what',
        label: texts.waiting.what,
        required: true,
        choices: WAITING_FOR.map((value) => ({ value, label: texts.waiting.names[value], description: '' })),
      },
      { as: 'date', name: 'until', label: texts.waiting.until, required: false },
      { as: 'line', name: 'note', label: texts.waiting.note, required: false },
    ],
    run: ({ kind, item, values: { what, until, note } }) =>
      setWaiting(kind, item, {
        what: what as Waiting['what'],
        until: until ? asTime(until) : null,
        note: note?.trim() || null,
      }),
    done: ({ waitingFor }) =>
      texts.waiting.line(waitingFor ? wordFor(texts.waiting.names, waitingFor.what) : '', null),
  },
  {
    name: 'look',
    label: words.look,
    fields: [],
    run: async ({ item }) => item,
    done: ({ status }) => describeStatus(status).label,
  },
];

const BY_TYPE: Record<Job['type'], Action[]> = {
  OFFLINE_REPAIR: [...(REPAIR_MOVES as StaffMove<never>[]).map(moveAction), ...OF_ANY_TYPE],
  TRADE_RETURN: [...(TRADE_MOVES as StaffMove<never>[]).map(moveAction), ...OF_ANY_TYPE],
};
export const actionsOf = (type: Job['type']): readonly Action[] => BY_TYPE[type];
export const actionOf = ({ type, action }: Job): Action | undefined =>
  BY_TYPE[type].find(({ name }) => name === action);

/** What is missing or wrong in what was filled in for the action, by field. */
export const errorsOf = ({ type, values }: Job, { name, fields, move }: Action): Record<string, string> => {
  const filled = Object.fromEntries(fields.map((field) => [field.name, values[field.name] ?? '']));
  if (move) return formErrors(moveSchema(KIND_OF[type], name), filled);
  const faults = fields.flatMap((field): [string, string][] => {
    const value = filled[field.name] ?? '';
    if (field.required && !value) return [[field.name, texts.common.required]];
    const fault = field.as === 'date' ? faultIn(value) : null;
    return fault === null ? [] : [[field.name, fault]];
  });
  return Object.fromEntries(faults);
};

/** What is shown of a return that was scanned. */
export interface Scanned {
  id: string;
  rmaNumber: string;
  status: string;
  customer: string;
  item: string;
  fault: string;
}

const scannedOf = (item: AnyReturn): Scanned => {
  const { id, rmaNumber, status, customerName: customer } = item;
  const shown = { id, rmaNumber, status, customer };
  if ('faultyItem' in item)
    return { ...shown, item: item.faultyItem.productName, fault: item.faultDescription };
  return {
    ...shown,
    customer: item.companyName,
    item: texts.print.andMore(item.items[0]?.productName ?? '', item.items.length - 1),
    fault: item.reason,
  };
};

export interface Outcome {
  isDone: boolean;
  message: string;
  type: Job['type'] | null;
  scanned: Scanned | null;
  /** The move that leads back, where there is one. */
  back: MoveBack | null;
}

export const failedWith = (message: string): Outcome => ({
  isDone: false,
  message,
  type: null,
  scanned: null,
  back: null,
});

/** Reports a refusal in words, and never throws. */
export const doScan = async (text: string, job: Job, print: Doing['print']): Promise<Outcome> => {
  const action = actionOf(job);
  if (!action) return failedWith(words.pickAction);
  let type: Job['type'] | null = null;
  let item: AnyReturn | null = null;
  const failed = (message: string): Outcome => ({
    ...failedWith(message),
    type,
    scanned: item && scannedOf(item),
  });
  try {
    const found = await find(text, action.move ? job.type : null);
    type = found.type;
    item = found.item;
    if (found.problem !== null || !item || !type) return failed(found.problem ?? words.notFound);
    const reason = action.move ? await whyNot(action.move, KIND_OF[type], item) : null;
    if (reason !== null) return failed(reason);
    const after = await action.run({ kind: KIND_OF[type], item, values: job.values, print });
    return {
      isDone: true,
      message: action.done(after),
      type,
      scanned: scannedOf(after),
      back: moveBack(item, after),
    };
  } catch (error) {
    if (!type || !item || !isConflict(error)) return failed(errorMessage(error));
    return failed(await whoWasFaster(KIND_OF[type], item));
  }
};

export const undo = async ({ type, scanned, back }: Outcome): Promise<Outcome> => {
  if (!type || !scanned || !back) return failedWith(texts.moves.changedSince);
  try {
    const after = await undoMove(KIND_OF[type], back);
    const message = texts.moves.movedBack(describeStatus(after.status).label);
    return { isDone: true, message, type, scanned: scannedOf(after), back: null };
  } catch (error) {
    return { ...failedWith(errorMessage(error)), type, scanned };
  }
};

interface Found {
  type: Job['type'] | null;
  item: AnyReturn | null;
  problem: string | null;
}

/**
 * A scanner may be set to another case than the label has. The search compares the newest returns in any case, and these
 * spellings with all returns.
 */
const findExactly = async (text: string): Promise<FoundReturn[]> => {
  for (const written of new Set([text, text.toUpperCase(), text.toLowerCase()])) {
    const found = (await findReturns(written)).filter(({ match }) => match !== null);
    if (found.length > 0) return found;
  }
  return [];
};

/** The one return that is meant, of the type where one is asked for. */
const find = async (text: string, type: Job['type'] | null): Promise<Found> => {
  const matches = await findExactly(text);
  const candidates = stillOpen(matches.filter(({ kind }) => type === null || kind === type));
  const found = candidates[0] ?? matches[0];
  if (!found) return { type: null, item: null, problem: words.notFound };
  const { path, one, many, title } = KIND_OF[found.kind];
  const item = await api.get<AnyReturn>(`${path}/${found.id}`);
  const problem = () => {
    if (candidates.length === 0) return words.otherType(one, title);
    return candidates.length > 1 ? words.several(candidates.length, many) : null;
  };
  return { type: found.kind, item, problem: problem() };
};

/** Of several that are meant, as with an item that was repaired before, those whose work has not ended. */
const stillOpen = (found: FoundReturn[]): FoundReturn[] => {
  const open = found.filter(({ status }) => !isEnded(status));
  return open.length > 0 ? open : found;
};

/** That a return was erased, the service says in its own words. */
const whyNot = async (move: StaffMove<never>, kind: Kind, item: AnyReturn): Promise<string | null> => {
  if (item.erasedAt !== null) return null;
  const moves: Record<string, { to: string | null }> =
    kind === REPAIRS ? OFFLINE_REPAIR_MOVES : TRADE_RETURN_MOVES;
  const to = moves[move.action]?.to ?? null;
  const { label } = describeStatus(item.status);
  if (item.status === to) return `${words.already(label)}${byWhom(await lastMove(kind, item))}.`;
  if (kind === REPAIRS && isEnded(item.status) && to !== null) return words.ended(label, kind.one);
  return move.isOpen(item as never) ? null : words.notPossible(label, move.label);
};

const whoWasFaster = async (kind: Kind, item: AnyReturn): Promise<string> => {
  const last = await lastMove(kind, item);
  const status = last?.toStatus ? describeStatus(last.toStatus).label : null;
  return `${words.changed(status)}${byWhom(last)}.`;
};

const byWhom = (entry: TimelineEntry | null): string =>
  entry ? words.by(entry.actor.name, formatRelative(entry.at, Date.now())) : '';

/** The latest entry that changed the status. Without it the reason is still shown, without a name. */
const lastMove = async (kind: Kind, { id }: AnyReturn): Promise<TimelineEntry | null> => {
  const { items } = await api
    .get<z.infer<typeof Timeline>>(`${kind.path}/${id}/timeline`)
    .catch(() => ({ items: [] as TimelineEntry[] }));
  return items.findLast(({ fromStatus, toStatus }) => toStatus !== null && toStatus !== fromStatus) ?? null;
};
