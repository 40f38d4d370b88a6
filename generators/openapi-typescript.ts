import createClient from 'openapi-fetch';
import type { components, paths } from './generated/openapi-typescript.js';
import { apiKey, baseUrl, NEW_REPAIR, NEW_TRADE_RETURN, report } from './till.js';

const api = createClient<paths>({ baseUrl, headers: { 'X-Api-Key': apiKey } });

const { data: repair, error } = await api.POST('/offline-repairs', {
  params: { header: { 'Idempotency-Key': 'till-4-receipt-88213' } },
  body: NEW_REPAIR,
});
if (!repair) throw new Error(error.code);

const { data: list } = await api.GET('/offline-repairs', {
  params: { query: { status: 'OFFLINE_DIAGNOSTICS', limit: 10 } },
});
const { data: moved } = await api.POST('/offline-repairs/{id}/begin-repair', {
  params: { path: { id: repair.id } },
  body: { assignedToId: 'tech-12' },
});
const { data: timeline } = await api.GET('/offline-repairs/{id}/timeline', {
  params: { path: { id: repair.id } },
});
const { data: tradeReturn } = await api.POST('/trade-returns', { body: NEW_TRADE_RETURN });
const { data: feed } = await api.GET('/events');
const { error: missing } = await api.GET('/offline-repairs/{id}', { params: { path: { id: 'RMA-000001' } } });
if (!list || !moved || !timeline || !tradeReturn || !feed) throw new Error('an answer is missing');
const code: components['schemas']['ErrorCode'] | undefined = missing?.code;

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
