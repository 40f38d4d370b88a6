import type { DeliveryStatus } from '../../db/schema.ts';

// The states of the dispatcher's parts and the moves between them, as tables. docs/architecture.md, "The dispatcher", tells who
// causes each move.

type Moves<State extends string> = Readonly<Record<State, readonly State[]>>;

/** In the database, by status and number of attempts. In flight is known only to the process that sends. */
export type DeliveryState =
  | 'waiting for its first attempt'
  | 'in flight'
  | 'waiting for a retry'
  | 'delivered'
  | 'dropped';
export const DELIVERY_MOVES: Moves<DeliveryState> = {
  'waiting for its first attempt': ['in flight', 'dropped'],
  // Back to where it waited: the attempt was broken off by a stop, or its process died, and does not count.
  'in flight': ['delivered', 'waiting for a retry', 'dropped', 'waiting for its first attempt'],
  'waiting for a retry': ['in flight', 'dropped'],
  delivered: [],
  dropped: [],
};
/** What an attempt that counts can come to, and how that is stored. */
export const STATUS_AFTER = {
  delivered: 'DELIVERED',
  'waiting for a retry': 'PENDING',
  dropped: 'DROPPED',
} as const satisfies Partial<Record<DeliveryState, DeliveryStatus>>;

/** One exchange. Fresh, aged or slow while it is under way; landed when it is over; settled when its result is written. */
export type FlightState = 'fresh' | 'aged' | 'slow' | 'landed' | 'settled';
export const FLIGHT_MOVES: Moves<FlightState> = {
  fresh: ['aged', 'landed'],
  aged: ['slow', 'landed'],
  slow: ['landed'],
  landed: ['settled'],
  settled: [],
};

/** A receiver, as this process sees it. */
export type ReceiverState =
  | 'idle'
  | 'ready'
  | 'being served'
  | 'called while served'
  | 'full'
  | 'leased elsewhere';
export const RECEIVER_MOVES: Moves<ReceiverState> = {
  idle: ['ready', 'full'],
  ready: ['being served', 'full'],
  'being served': ['called while served', 'idle', 'leased elsewhere'],
  'called while served': ['ready', 'full', 'leased elsewhere'],
  full: ['ready'],
  'leased elsewhere': ['ready', 'full'],
};

/** One of the worker's loops. Woken: somebody called while it works, so it does not rest afterwards. */
export type LoopState = 'working' | 'woken' | 'resting' | 'stopping' | 'stopped';
export const LOOP_MOVES: Moves<LoopState> = {
  working: ['woken', 'resting', 'stopping'],
  woken: ['working', 'stopping'],
  resting: ['working', 'stopping'],
  stopping: ['stopped'],
  stopped: [],
};

/** Told of a move that no table allows. */
export type OnForbiddenMove = (message: string) => void;

export type Move = <State extends string>(moves: Moves<State>, thing: { state: State }, to: State) => void;

/**
 * The only way to change a state. A forbidden move is made all the same, after it was reported: in production that is logged,
 * since an exchange that is forgotten half-way would hold its lease and its place for ever. In tests it throws.
 */
export const createMove =
  (onForbidden: OnForbiddenMove): Move =>
  (moves, thing, to) => {
    if (!moves[thing.state].includes(to)) onForbidden(`${thing.state} must not become ${to}`);
    thing.state = to;
  };
