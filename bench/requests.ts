import { repairBody } from '../test/support/bodies.ts';

/** A request as the load generator sends it, again and again. */
export interface Request {
  method: 'GET' | 'POST';
  path: string;
  headers: Record<string, string>;
  body?: string;
}

/** Enough addresses that none comes near its limit, a second's or a minute's. */
const REQUESTS = 4096;

let addresses = 0;
/** An address that nobody has called from yet. */
const newAddress = (): string => {
  addresses += 1;
  return `10.${(addresses >> 16) & 255}.${(addresses >> 8) & 255}.${addresses & 255}`;
};

/** Different requests of one kind, each from an address of its own. */
export const manyRequests = (make: (i: number) => Request): Request[] =>
  Array.from({ length: REQUESTS }, (_, i) => {
    const request = make(i);
    return { ...request, headers: { ...request.headers, 'x-forwarded-for': newAddress() } };
  });

export const creation = (path: string, headers: Record<string, string>, i: number): Request => ({
  method: 'POST',
  path,
  headers: { 'content-type': 'application/json', ...headers },
  body: JSON.stringify(
    repairBody({
      orderNumber: `SO-${10_000 + i}`,
      customerEmail: `customer${i}@example.com`,
      externalRef: `POS-${i}`,
      externalSource: `till-${i % 7}`,
    }),
  ),
});

export const reading = (path: string, headers: Record<string, string>): Request => ({
  method: 'GET',
  path,
  headers,
});
