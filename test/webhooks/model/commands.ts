import fc from 'fast-check';
import type { Onlooker } from './onlooker.ts';
import { BEHAVIOURS, type Behaviour, type Process, type World } from './world.ts';

// What can happen. Each command lets a little time pass, and then the model's side is compared with the real one.

/** What the model knows by itself; the onlooker has the rest. */
export interface Model {
  events: number;
  processes: ('awake' | 'asleep' | 'stopped' | 'dead')[];
}
interface Real {
  world: World;
  onlooker: Onlooker;
}
type Command = fc.AsyncCommand<Model, Real>;

const MOST_PROCESSES = 3;
const MOST_EVENTS = 24;
const A_DAY_AND_MORE_MS = 25 * 60 * 60 * 1000;

interface Happening {
  name: string;
  isPossible?: (model: Readonly<Model>) => boolean;
  happen(model: Model, world: World): Promise<void> | void;
}

const command = ({ name, isPossible = () => true, happen }: Happening): Command => ({
  check: isPossible,
  async run(model, { world, onlooker }) {
    world.tell(name);
    await happen(model, world);
    await world.simulation.advance(0, () => onlooker.isBroken);
    await onlooker.compare();
    if (onlooker.records.size !== model.events) throw new Error('model and database differ in their events');
  },
  toString: () => name,
});

const indexesOf = (model: Readonly<Model>, state: Model['processes'][number]): number[] =>
  model.processes.flatMap((each, i) => (each === state ? [i] : []));

/** Something that happens to the n-th of the processes in a state. */
const toProcess = (
  verb: string,
  n: number,
  [from, to]: [Model['processes'][number], Model['processes'][number]],
  happen: (world: World, process: Process) => void,
): Command =>
  command({
    name: `${verb}(${n})`,
    isPossible: (model) => indexesOf(model, from).length > n,
    happen(model, world) {
      const i = indexesOf(model, from)[n] as number;
      model.processes[i] = to;
      happen(world, world.processes[i] as Process);
    },
  });

const running = ({ processes }: Readonly<Model>): number =>
  processes.filter((each) => each === 'awake' || each === 'asleep').length;

const enqueue = (receiver: number, count: number): Command =>
  command({
    name: `enqueue(${receiver}, ${count})`,
    isPossible: ({ events }) => events + count <= MOST_EVENTS,
    async happen(model, world) {
      model.events += count;
      for (let i = 0; i < count; i++) await world.enqueue(receiver);
    },
  });
const enqueueForAll = (receivers: number): Command =>
  command({
    name: 'enqueueForAll',
    isPossible: ({ events }) => events + receivers <= MOST_EVENTS,
    async happen(model, world) {
      model.events += receivers;
      for (let receiver = 0; receiver < receivers; receiver++) await world.enqueue(receiver);
    },
  });
const behave = (receiver: number, behaviour: Behaviour): Command =>
  command({
    name: `behave(${receiver}, ${behaviour})`,
    happen: (_, world) => world.behave(receiver, behaviour),
  });
const advance = (ms: number): Command =>
  command({
    name: `advance(${ms})`,
    happen: (_, world) => world.simulation.advance(ms),
  });
const aDayPasses = command({
  name: 'aDayPasses',
  isPossible: (model) => running(model) === 0,
  happen: (_, world) => world.simulation.advance(A_DAY_AND_MORE_MS),
});
const start = command({
  name: 'start',
  isPossible: (model) => running(model) < MOST_PROCESSES,
  async happen(model, world) {
    model.processes.push('awake');
    await world.start();
  },
});

export const commandsFor = (receivers: number): fc.Arbitrary<Command>[] => {
  const receiver = fc.nat(receivers - 1);
  const process = fc.nat(MOST_PROCESSES - 1);
  const enqueuing = fc.tuple(receiver, fc.integer({ min: 1, max: 6 })).map(([r, n]) => enqueue(r, n));
  const behaving = fc.tuple(receiver, fc.constantFrom(...BEHAVIOURS)).map(([r, how]) => behave(r, how));
  const passing = fc.oneof(
    fc.integer({ min: 1, max: 300 }),
    fc.integer({ min: 300, max: 5_000 }),
    fc.integer({ min: 5_000, max: 40_000 }),
  );
  return [
    enqueuing,
    enqueuing,
    fc.constant(enqueueForAll(receivers)),
    behaving,
    behaving,
    passing.map(advance),
    passing.map(advance),
    passing.map(advance),
    fc.constant(start),
    fc.constant(aDayPasses),
    process.map((n) => toProcess('die', n, ['awake', 'dead'], (world, each) => world.die(each))),
    process.map((n) => toProcess('stop', n, ['awake', 'stopped'], (world, each) => world.stop(each))),
    process.map((n) => toProcess('sleep', n, ['awake', 'asleep'], (world, each) => world.sleep(each))),
    process.map((n) => toProcess('return', n, ['asleep', 'awake'], (world, each) => world.return(each))),
  ];
};
