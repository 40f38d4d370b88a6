// The states of the worker and their allowed transitions. docs/architecture.md, "The dispatcher", has the diagrams.

type Transitions<State extends string> = Readonly<Record<State, readonly State[]>>;

/** One request and its answer. Set aside: the database refuses its result for good. */
export type ExchangeState = 'young' | 'slow' | 'finished' | 'settled' | 'set aside';
export const EXCHANGE: Transitions<ExchangeState> = {
  young: ['slow', 'finished'],
  slow: ['finished'],
  finished: ['settled', 'set aside'],
  settled: [],
  'set aside': [],
};

/** A receiver, as this process sees it. */
export type ReceiverState = 'idle' | 'ready' | 'being read' | 'woken while read' | 'full';
export const RECEIVER: Transitions<ReceiverState> = {
  idle: ['ready', 'full'],
  ready: ['being read'],
  'being read': ['woken while read', 'idle'],
  'woken while read': ['ready', 'full', 'idle'],
  full: ['ready'],
};

/** Whether a receiver, and an exchange with it, takes room in one pool or the other. */
export type Health = 'healthy' | 'unhealthy';

export type OnForbidden = (message: string) => void;

/**
 * The only way to change a state. A forbidden transition is reported and made all the same: an exchange that is forgotten
 * half-way would hold its lease and its place for ever. Tests fail at the report.
 */
export const createTransition =
  (onForbidden: OnForbidden) =>
  <State extends string>(allowed: Transitions<State>, thing: { state: State }, to: State): void => {
    if (thing.state === to) return;
    if (!allowed[thing.state].includes(to)) onForbidden(`${thing.state} must not become ${to}`);
    thing.state = to;
  };
export type Transition = ReturnType<typeof createTransition>;
