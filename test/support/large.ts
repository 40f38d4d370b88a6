import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { expect } from 'vitest';
import { BASE_PATH } from '../../contract/common.ts';
import type { Db } from '../../src/db/types.ts';
import { newId } from '../../src/lib/ids.ts';
import { responseOf } from './http.ts';

// Returns and pages of the largest size, and how they are read from outside.

export const itemsOf = (kilobytes: number): object[] =>
  Array.from({ length: Math.ceil(kilobytes / 0.875) }, (_, i) => ({
    sku: `${'S'.repeat(120)}${i}`,
    productName: 'P'.repeat(255),
    variantTitle: 'V'.repeat(255),
    tradeLineItemId: 'L'.repeat(128),
    quantity: 4,
    price: 120.5,
  }));

/** Adds copies of a trade return, until there are so many. Gives the ids of all, oldest first. */
export const copyReturn = async (db: Db, id: string, count: number): Promise<string[]> => {
  const row = await db.selectFrom('trade_returns').selectAll().where('id', '=', id).executeTakeFirstOrThrow();
  const ids = [id];
  for (let i = 1; i < count; i += 1) {
    const copy = { ...row, id: newId(row.created_at + i), number: row.number + i };
    await db.insertInto('trade_returns').values(copy).execute();
    ids.push(copy.id);
  }
  await db.updateTable('rma_totals').set({ count }).where('shop_id', '=', row.shop_id).execute();
  return ids;
};

/** Begins to read and stops after the head of the response: the body stays where it is until the test reads on. */
export const openUnread = async (url: string, key: string, path: string): Promise<IncomingMessage> => {
  const headers = { 'x-api-key': key, 'x-forwarded-for': '10.200.0.1' };
  const asked = get(`${url}${BASE_PATH}${path}`, { headers, agent: false });
  const [response] = (await once(asked, 'response')) as [IncomingMessage];
  if (response.statusCode !== 200)
    expect(responseOf('GET', path, response, await text(response))).toHaveStatus(200);
  return response;
};

export const readToEnd = async (response: IncomingMessage): Promise<string | Error> => {
  const chunks: Buffer[] = [];
  try {
    for await (const chunk of response) chunks.push(chunk);
    return Buffer.concat(chunks).toString();
  } catch (error) {
    return error as Error;
  }
};
