import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { constants, setPriority } from 'node:os';
import { isSeeded } from '../sql-words.ts';
import type { ReceiverOrder, ReceiverReport } from './receivers.ts';

const report = (what: ReceiverReport): void => void process.send?.(what);

// They stand for other people's machines, and must not take this one's time from whoever is measured.
setPriority(constants.priority.PRIORITY_LOW);
let expected = 0;
let firstAt = 0;
const seen = new Set<string>();

const receive: RequestListener = (request, response) => {
  request.resume().once('end', () => {
    response.writeHead(204).end();
    const id = String(request.headers['x-webhook-id']);
    if (!isSeeded(id, 'delivery') || seen.size === expected) return;
    seen.add(id);
    if (seen.size === 1) {
      firstAt = performance.now();
      report({ is: 'first' });
    }
    if (seen.size === expected) report({ is: 'all', seconds: (performance.now() - firstAt) / 1000 });
  });
};

const servers = Array.from({ length: Number(process.argv[2]) }, () => createServer(receive));
const urls = await Promise.all(
  servers.map(
    (server) =>
      new Promise<string>((resolve) => {
        server.listen(0, '127.0.0.1', () =>
          resolve(`http://127.0.0.1:${(server.address() as AddressInfo).port}/hooks`),
        );
      }),
  ),
);
process.on('message', (order: ReceiverOrder) => {
  seen.clear();
  expected = order.expect;
});
process.on('disconnect', () => process.exit());
report({ is: 'listening', urls });
