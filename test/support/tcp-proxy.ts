import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';

// The network between the service and PostgreSQL, so that a test can cut, hold or lose it.

export const startTcpProxy = async (databaseUrl: string) => {
  const target = new URL(databaseUrl);
  const pairs = new Set<{ from: Socket; to: Socket }>();
  const sockets = new Set<Socket>();
  let held = false;
  let most = Number.POSITIVE_INFINITY;

  const server = createServer((from) => {
    if (pairs.size >= most) return void from.destroy();
    const to = connect(Number(target.port), target.hostname);
    const pair = { from, to };
    pairs.add(pair);
    const end = () => {
      from.destroy();
      to.destroy();
      pairs.delete(pair);
    };
    for (const socket of [from, to]) {
      sockets.add(socket);
      socket.on('error', end).on('close', end);
    }
    if (held) pause(pair);
    from.pipe(to);
    to.pipe(from);
    if (held) pause(pair);
  });
  const pause = ({ from, to }: { from: Socket; to: Socket }) => {
    from.unpipe(to);
    to.unpipe(from);
    from.pause();
    to.pause();
  };
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });

  return {
    through(url: string): string {
      const address = new URL(url);
      address.hostname = '127.0.0.1';
      address.port = String(port);
      return address.toString();
    },
    /** Nothing passes any more, in either direction, on old and new connections; no side is told. */
    hold() {
      held = true;
      for (const pair of pairs) pause(pair);
    },
    release() {
      held = false;
      for (const { from, to } of pairs) {
        from.pipe(to);
        to.pipe(from);
      }
    },
    /** As a firewall does with connections that were idle: those there are now are dead, and no side is told. New ones work. */
    forget() {
      for (const pair of pairs) pause(pair);
      pairs.clear();
    },
    limit(connections: number) {
      most = connections;
    },
    connections: () => pairs.size,
  };
};
