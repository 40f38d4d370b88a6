import { describe, expect, it } from 'vitest';
import { stopClock } from '../support/api.ts';
import { harness } from '../support/harness.ts';

const HOUR_MS = 3_600_000;

describe('a clock that jumps', () => {
  it.each([
    ['back', -HOUR_MS],
    ['ahead', HOUR_MS],
  ])('%s by an hour neither extends nor ends a rate window', async (_way, jumpMs) => {
    const t = await harness();
    const clock = stopClock();
    const read = () => t.get('/offline-repairs', { ip: '198.51.100.7' });
    for (let i = 0; i < 200; i += 1) expect(await read()).toHaveStatus(200);
    expect(await read()).toFailWith(429);
    clock.jump(jumpMs);
    const refused = await read();
    expect(refused).toFailWith(429);
    expect(Number(refused.headers.get('retry-after'))).toBeLessThanOrEqual(60);
    clock.advance(60_000);
    expect(await read()).toHaveStatus(200);
  });
});
