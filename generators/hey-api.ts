import { client } from './generated/hey-api/client.gen.js';
import {
  beginOfflineRepair,
  createOfflineRepair,
  createTradeReturn,
  type ErrorCode,
  getOfflineRepair,
  getOfflineRepairTimeline,
  listEvents,
  listOfflineRepairs,
} from './generated/hey-api/index.js';
import { apiKey, baseUrl, NEW_REPAIR, NEW_TRADE_RETURN, report } from './till.js';

client.setConfig({ baseUrl, auth: apiKey });

const { data: repair, error } = await createOfflineRepair({
  body: NEW_REPAIR,
  headers: { 'Idempotency-Key': 'till-4-receipt-88213' },
});
if (!repair) throw new Error(error.code);

const { data: list } = await listOfflineRepairs({ query: { status: 'OFFLINE_DIAGNOSTICS', limit: 10 } });
const { data: moved } = await beginOfflineRepair({
  path: { id: repair.id },
  body: { assignedToId: 'tech-12' },
});
const { data: timeline } = await getOfflineRepairTimeline({ path: { id: repair.id } });
const { data: tradeReturn } = await createTradeReturn({ body: NEW_TRADE_RETURN });
const { data: feed } = await listEvents();
const { error: missing } = await getOfflineRepair({ path: { id: 'RMA-000001' } });
if (!list || !moved || !timeline || !tradeReturn || !feed) throw new Error('an answer is missing');
const code: ErrorCode | undefined = missing?.code;

report({
  created: repair.rmaNumber,
  listed: list.items.map(({ id }) => id).includes(repair.id),
  status: moved.status,
  timeline: timeline.items.map(({ type }) => type),
  tradeReturn: tradeReturn.rmaNumber,
  events: feed.items.map((item) => {
    switch (item.event) {
      case 'offline_repair.created':
        return item.data.faultyItem.sku;
      case 'offline_repair.status_changed':
        return item.data.previousStatus;
      case 'trade_return.created':
        return item.data.companyName;
      default:
        return item.event;
    }
  }),
  isMissing: code === 'NOT_FOUND',
});
