import { once } from 'node:events';
import { connect } from 'node:net';

/** Sends half of a request and breaks the connection off, as soon as the half has gone out. */
export const hangUpHalfway = async (port: number): Promise<void> => {
  const socket = connect(port, '127.0.0.1');
  await once(socket, 'connect');
  const half = 'POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 100\r\n\r\n{"event"';
  await new Promise((resolve) => socket.write(half, resolve));
  socket.resetAndDestroy();
  await once(socket, 'close');
};
