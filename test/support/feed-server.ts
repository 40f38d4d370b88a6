import { createServer, type IncomingHttpHeaders, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';
import { BASE_PATH } from '../../contract/common.ts';

// An event feed as the service promises it, with faults on demand: what no working service shows at the wanted moment.

export interface FeedItem {
  id: string;
  event: string;
  timestamp: string;
  data: Record<string, unknown>;
}

interface Asked {
  at: number;
  query: Record<string, string>;
  headers: IncomingHttpHeaders;
}

type Fault = (response: ServerResponse) => void;

export interface FeedServer {
  url: string;
  asked: Asked[];
  add(...items: FeedItem[]): void;
  /** The next requests are answered like this instead, one each. */
  fail(...faults: Fault[]): void;
  /** Nobody is there any more, and what waits is broken off. */
  goAway(): Promise<void>;
  comeBack(): Promise<void>;
}

export const errorAnswer =
  (status: number, body: object = {}, headers: Record<string, string> = {}): Fault =>
  (response) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers });
    response.end(JSON.stringify({ statusCode: status, requestId: 'r', ...body }));
  };

export const startFeedServer = async (key: string): Promise<FeedServer> => {
  const items: FeedItem[] = [];
  const asked: Asked[] = [];
  const faults: Fault[] = [];
  const waiting = new Set<() => void>();
  let server: Server;
  let port = 0;

  const answer = (query: URLSearchParams, response: ServerResponse): void => {
    const after = query.get('after');
    const from = after === 'latest' ? items.length : Number(after?.replace('opaque-', '') ?? 0);
    if (!Number.isInteger(from)) {
      errorAnswer(400, { message: ['after is not a cursor'] })(response);
      return;
    }
    const page = items.slice(from, from + Number(query.get('limit') ?? 20));
    const send = () => {
      response.writeHead(200, { 'content-type': 'application/json' });
      const cursor = `opaque-${from + page.length}`;
      response.end(JSON.stringify({ items: page, cursor, hasMore: from + page.length < items.length }));
    };
    const waitMs = Number(query.get('wait') ?? 0) * 1000;
    if (page.length > 0 || waitMs === 0) {
      send();
      return;
    }
    const wake = () => {
      clearTimeout(timer);
      waiting.delete(wake);
      if (!response.destroyed) answer(query, response);
    };
    const timer = setTimeout(() => {
      waiting.delete(wake);
      send();
    }, waitMs);
    waiting.add(wake);
    response.on('close', () => {
      clearTimeout(timer);
      waiting.delete(wake);
    });
  };

  const listen = async () => {
    server = createServer((request, response) => {
      const { pathname, searchParams } = new URL(request.url ?? '', 'http://localhost');
      asked.push({
        at: performance.now(),
        query: Object.fromEntries(searchParams),
        headers: request.headers,
      });
      const fault = faults.shift();
      if (fault) return fault(response);
      if (pathname !== `${BASE_PATH}/events`) return errorAnswer(404)(response);
      if (request.headers['x-api-key'] !== key)
        return errorAnswer(401, { message: `No such key: ${request.headers['x-api-key']}` })(response);
      answer(searchParams, response);
    });
    await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
    port = (server.address() as AddressInfo).port;
  };
  const goAway = async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  };
  await listen();
  onTestFinished(goAway);

  return {
    url: `http://127.0.0.1:${port}`,
    asked,
    add(...more) {
      items.push(...more);
      for (const wake of [...waiting]) wake();
    },
    fail: (...more) => void faults.push(...more),
    goAway,
    comeBack: listen,
  };
};

let made = 0;
/** An event about a repair of its own. */
export const feedItem = (data: Record<string, unknown> = {}): FeedItem => {
  made += 1;
  const number = String(made).padStart(6, '0');
  return {
    id: `019a8c1e-7a54-7cc1-9a3e-000000${number}`,
    event: 'offline_repair.status_changed',
    timestamp: new Date(1_763_200_000_000 + made).toISOString(),
    data: {
      id: `019a8c1e-7a54-7cc1-8a3e-000000${number}`,
      rmaNumber: `#RMA-${number}`,
      externalRef: `POS-${made}`,
      externalSource: null,
      status: 'OFFLINE_REPAIR',
      previousStatus: 'OFFLINE_DIAGNOSTICS',
      ...data,
    },
  };
};
