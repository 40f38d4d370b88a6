import type { Context } from '../../src/api/context.ts';
import type { Row } from '../../src/db/schema.ts';
import { newId } from '../../src/lib/ids.ts';

// Deliveries that tests write themselves: more than requests would make in a reasonable time, or as another process leaves them.

type Columns = Partial<Row<'webhook_deliveries'>>;

/** Waits for its first attempt since that time, but for what the columns say. */
export const waitingDelivery = (clientId: string, atMs: number, columns: Columns = {}) => ({
  id: newId(atMs),
  receiver_id: clientId,
  rma_id: null,
  event: 'offline_repair.closed' as const,
  body: '{}',
  status: 'PENDING' as const,
  attempts: 0,
  attempt_log: '[]',
  due_at: atMs,
  created_at: atMs,
  ...columns,
});

const ROWS_OF_A_STATEMENT = 500;

export const addDeliveries = async (
  { ctx: { db } }: { ctx: Pick<Context, 'db'> },
  rows: ReturnType<typeof waitingDelivery>[],
): Promise<void> => {
  for (let from = 0; from < rows.length; from += ROWS_OF_A_STATEMENT)
    await db
      .insertInto('webhook_deliveries')
      .values(rows.slice(from, from + ROWS_OF_A_STATEMENT))
      .execute();
};
