import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** The time of day, finer than a millisecond. */
export const preciseNow = (): number => performance.timeOrigin + performance.now();

export interface Ear {
  url: string;
  /** What came since the last call: of which RMA, and when. */
  heard(): { id: string; at: number }[];
  close(): Promise<void>;
}

/** A receiver in this process, so that sending and receiving are timed by one clock. */
export const startEar = async (): Promise<Ear> => {
  let arrivals: { id: string; at: number }[] = [];
  const server = createServer(async (request, response) => {
    const at = preciseNow();
    let text = '';
    for await (const chunk of request.setEncoding('utf8')) text += chunk;
    response.writeHead(204).end();
    arrivals.push({ id: JSON.parse(text).data.id, at });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hooks`,
    heard() {
      const all = arrivals;
      arrivals = [];
      return all;
    },
    async close() {
      server.closeAllConnections();
      server.close();
    },
  };
};
