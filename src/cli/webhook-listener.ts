import { timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { signatureOf } from '../webhooks/worker/send.ts';

export interface ListenOptions {
  port: number;
  secret?: string;
  answer: number;
  hang?: boolean;
}

/** A receiver for development: shows each delivery as it comes and says whether its signature holds. */
export const listen = (options: ListenOptions, say: (line: string) => void): Promise<Server> => {
  const { port, secret, answer, hang } = options;
  const server = createServer(async (request, response) => {
    const body = await bytesOf(request);
    const signature = String(request.headers['x-webhook-signature'] ?? '');
    say(
      `\n${new Date().toISOString()}  ${request.headers['x-webhook-event'] ?? '(no event)'}  attempt ${request.headers['x-webhook-attempt'] ?? '?'}` +
        `\nid         ${request.headers['x-webhook-id'] ?? '-'}\nsignature  ${verdict(secret, signature, body)}` +
        `\nanswered   ${hang ? 'not at all (--hang)' : answer}\n${pretty(body)}`,
    );
    if (!hang) response.writeHead(answer).end();
  });
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', () => {
      const { port: taken } = server.address() as AddressInfo;
      say(`Listening on http://127.0.0.1:${taken}; Ctrl-C ends it.`);
      say(
        'The service calls it when it runs with WEBHOOK_ALLOW_PRIVATE_NETWORKS=true and a client has this webhook URL.',
      );
      if (!secret) say('Without --secret signatures are shown, not checked.');
      resolve(server);
    });
  });
};

const bytesOf = async (request: IncomingMessage): Promise<Buffer> => {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks);
};

const verdict = (secret: string | undefined, signature: string, body: Buffer): string => {
  if (!signature) return 'MISSING';
  if (!secret) return `${signature} (not checked)`;
  const expected = Buffer.from(signatureOf(secret, body));
  const given = Buffer.from(signature);
  return given.length === expected.length && timingSafeEqual(given, expected) ? 'holds' : 'DOES NOT HOLD';
};

const pretty = (body: Buffer): string => {
  try {
    return JSON.stringify(JSON.parse(body.toString('utf8')), null, 2);
  } catch {
    return body.toString('utf8');
  }
};
