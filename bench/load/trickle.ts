import { setTimeout as pause } from 'node:timers/promises';
import { Agent, request } from 'undici';
import type { Request } from '../requests.ts';

// Callers who ask now and then, as most do: far below what the service can take, each with a pause after each response.

const CALLERS = 6;
const PAUSE_MS = 15;
const HEALTH_EVERY_MS = 50;

export interface TrickleFigures {
  /** Milliseconds by kind of request. */
  times: Record<string, number[]>;
  health: number[];
  failures: string[];
}

export const trickle = async (
  url: string,
  kinds: Record<string, (i: number) => Request>,
  seconds: number,
): Promise<TrickleFigures> => {
  const agent = new Agent({ connections: CALLERS + 1 });
  const names = Object.keys(kinds);
  const figures: TrickleFigures = {
    times: Object.fromEntries(names.map((name) => [name, []])),
    health: [],
    failures: [],
  };
  const until = performance.now() + seconds * 1000;
  const timed = async ({ method, path, headers, body }: Request): Promise<number> => {
    const start = performance.now();
    const response = await request(url + path, {
      method,
      headers,
      dispatcher: agent,
      ...(body === undefined ? {} : { body }),
    });
    const text = await response.body.text();
    if (response.statusCode >= 300)
      figures.failures.push(`${method} ${path}: ${response.statusCode} ${text}`);
    return performance.now() - start;
  };
  let asked = 0;
  const call = async (): Promise<void> => {
    while (performance.now() < until) {
      asked += 1;
      const name = names[asked % names.length] as string;
      figures.times[name]?.push(await timed((kinds[name] as (i: number) => Request)(asked)));
      await pause(PAUSE_MS);
    }
  };
  const watchHealth = async (): Promise<void> => {
    while (performance.now() < until) {
      figures.health.push(await timed({ method: 'GET', path: '/healthz', headers: {} }));
      await pause(HEALTH_EVERY_MS);
    }
  };
  await Promise.all([watchHealth(), ...Array.from({ length: CALLERS }, call)]);
  await agent.close();
  return figures;
};
