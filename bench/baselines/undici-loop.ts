import { createHmac } from 'node:crypto';
import { Agent, request } from 'undici';
import { KILOBYTE_EVENT, kilobyteBody } from '../kilobyte.ts';
import { seededId } from '../sql-words.ts';

// The baseline U: nothing but undici posting signed bodies, so many in flight, to the receivers in turn.

const IN_FLIGHT = 64;
const SECRET = 'whsec_of_a_baseline';

const [count, ...urls] = process.argv.slice(2);
const agent = new Agent({ keepAliveTimeout: 10_000, pipelining: 1 });
const body = Buffer.from(kilobyteBody());
const now = Date.now();
let sent = 0;

const post = async (): Promise<void> => {
  while (sent < Number(count)) {
    sent += 1;
    const { statusCode, body: response } = await request(urls[sent % urls.length] as string, {
      dispatcher: agent,
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'user-agent': 'undici',
        'x-webhook-signature': createHmac('sha256', SECRET).update(body).digest('hex'),
        'x-webhook-id': seededId(now, sent, 'delivery'),
        'x-webhook-event': KILOBYTE_EVENT,
        'x-webhook-attempt': '1',
      },
      body,
    });
    await response.dump();
    if (statusCode !== 204) throw new Error(`a receiver answered ${statusCode}`);
  }
};

await Promise.all(Array.from({ length: IN_FLIGHT }, post));
await agent.close();
