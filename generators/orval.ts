import axios, { isAxiosError } from 'axios';
import {
  type ApiError,
  beginOfflineRepair,
  createOfflineRepair,
  createTradeReturn,
  ErrorCode,
  getOfflineRepair,
  getOfflineRepairTimeline,
  listEvents,
  listOfflineRepairs,
} from './generated/orval.js';
import { apiKey, baseUrl, NEW_REPAIR, NEW_TRADE_RETURN, report } from './till.js';

axios.defaults.baseURL = baseUrl;
axios.defaults.headers.common['X-Api-Key'] = apiKey;

const { data: repair } = await createOfflineRepair(NEW_REPAIR, {
  headers: { 'Idempotency-Key': 'till-4-receipt-88213' },
});
const { data: list } = await listOfflineRepairs({ status: 'OFFLINE_DIAGNOSTICS', limit: 10 });
const { data: moved } = await beginOfflineRepair(repair.id, { assignedToId: 'tech-12' });
const { data: timeline } = await getOfflineRepairTimeline(repair.id);
const { data: tradeReturn } = await createTradeReturn(NEW_TRADE_RETURN);
const { data: feed } = await listEvents();
const missing: ErrorCode | undefined = await getOfflineRepair('RMA-000001').then(
  () => undefined,
  (error) => (isAxiosError<ApiError>(error) ? error.response?.data.code : undefined),
);

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
  isMissing: missing === ErrorCode.NOT_FOUND,
});
