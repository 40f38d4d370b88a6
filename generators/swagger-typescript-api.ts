import { Api, type ApiError, ErrorCode, OfflineRepairStatus } from './generated/swagger-typescript-api.js';
import { apiKey, baseUrl, NEW_REPAIR, NEW_TRADE_RETURN, report } from './till.js';

const { offlineRepairs, tradeReturns, events } = new Api({
  baseUrl,
  baseApiParams: { headers: { 'X-Api-Key': apiKey } },
});

const { data: repair } = await offlineRepairs.createOfflineRepair(NEW_REPAIR);
const { data: list } = await offlineRepairs.listOfflineRepairs({
  status: OfflineRepairStatus.OFFLINE_DIAGNOSTICS,
  limit: 10,
});
const { data: moved } = await offlineRepairs.beginOfflineRepair(repair.id, { assignedToId: 'tech-12' });
const { data: timeline } = await offlineRepairs.getOfflineRepairTimeline(repair.id);
const { data: tradeReturn } = await tradeReturns.createTradeReturn(NEW_TRADE_RETURN);
const { data: feed } = await events.listEvents();
const missing: ErrorCode | undefined = await offlineRepairs.getOfflineRepair('RMA-000001').then(
  () => undefined,
  ({ error }: { error: ApiError }) => error.code,
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
