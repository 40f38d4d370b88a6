import { FRESH_MS, type PoolName, SLOW_MS } from '../policy.ts';
import type { Pools } from './pools.ts';
import type { ReceiverLoad } from './receiver-load.ts';
import { FLIGHT_MOVES, type FlightState, type Move } from './states.ts';
import type { OwnTime } from './time.ts';
import { createUnsettled } from './unsettled.ts';

/** One exchange. */
export interface Flight {
  readonly clientId: string;
  readonly deliveryId: string;
  readonly bytes: number;
  readonly startedAt: number;
  state: FlightState;
  pool: PoolName;
  /** Cancels the timer that makes it aged, then slow. */
  stopAging: () => void;
}

interface Parts {
  pools: Pools;
  load: ReceiverLoad;
  time: OwnTime;
  move: Move;
}

/** The exchanges of this process, and what they take of the room of their pool and receiver (decision 83). */
export const createInFlight = ({ pools, load, time, move }: Parts) => {
  const unsettled = createUnsettled();

  const becomeAged = (flight: Flight): void => {
    move(FLIGHT_MOVES, flight, 'aged');
    pools.use(flight.pool, { fresh: -1 });
  };
  const becomeSlow = (flight: Flight): void => {
    move(FLIGHT_MOVES, flight, 'slow');
    load.becameSlow(flight.clientId);
    pools.use(flight.pool, { exchanges: -1, bytes: -flight.bytes });
    flight.pool = 'slow';
    pools.use(flight.pool, { exchanges: 1, bytes: flight.bytes });
  };
  const startAging = (flight: Flight, madeRoom: () => void): void => {
    flight.stopAging = time.after(FRESH_MS, () => {
      becomeAged(flight);
      flight.stopAging = time.after(SLOW_MS - FRESH_MS, () => {
        becomeSlow(flight);
        madeRoom();
      });
      madeRoom();
    });
  };

  return {
    /** `madeRoom` is called when the exchange, still under way, leaves its place to another. */
    start(about: Pick<Flight, 'clientId' | 'deliveryId' | 'bytes' | 'pool'>, madeRoom: () => void): Flight {
      const { clientId, deliveryId, bytes, pool } = about;
      const flight: Flight = { ...about, startedAt: time.now(), state: 'fresh', stopAging: () => {} };
      pools.use(pool, { exchanges: 1, bytes, fresh: 1 });
      load.started(clientId);
      unsettled.add(clientId, deliveryId);
      startAging(flight, madeRoom);
      return flight;
    },
    /** The exchange is over. `acknowledged` is null where a stop cut it short, which tells nothing of the receiver. */
    land(flight: Flight, acknowledged: boolean | null = null): void {
      const { clientId, bytes, pool, state } = flight;
      move(FLIGHT_MOVES, flight, 'landed');
      flight.stopAging();
      pools.use(pool, { bytes: -bytes, fresh: state === 'fresh' ? -1 : 0 });
      load.landed(clientId);
      if (time.now() - flight.startedAt < SLOW_MS) load.becameQuick(clientId);
      if (acknowledged) load.acknowledged(clientId);
      else if (acknowledged === false) load.failed(clientId);
    },
    /** Its result is written down, or given up. Returns whose delivery it is: its receiver may have been replaced meanwhile. */
    settled(flight: Flight): string {
      move(FLIGHT_MOVES, flight, 'settled');
      pools.use(flight.pool, { exchanges: -1 });
      return unsettled.remove(flight.clientId, flight.deliveryId);
    },
    claim: unsettled.claim,
    unsettledOf: unsettled.of,
    /** Who is waited for, or whose attempts are still to be written down. */
    receivers: unsettled.receivers,
    allSettled: unsettled.allRemoved,
  };
};
export type InFlight = ReturnType<typeof createInFlight>;
