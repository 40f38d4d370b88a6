import createClient from 'openapi-fetch';
import type { paths } from './handback.d.ts';

const { HANDBACK_URL, HANDBACK_API_KEY } = process.env;
if (!HANDBACK_URL || !HANDBACK_API_KEY) throw new Error('Set HANDBACK_URL and HANDBACK_API_KEY.');
const api = createClient<paths>({
  baseUrl: `${HANDBACK_URL}/api/v1/external/v1`,
  headers: { 'X-Api-Key': HANDBACK_API_KEY },
});

const { data: repair, error } = await api.POST('/offline-repairs', {
  params: { header: { 'Idempotency-Key': 'till-4-receipt-88213-line-1' } },
  body: {
    orderNumber: 'SO-10042',
    customerEmail: 'ada@example.com',
    customerName: 'Ada Pereira',
    faultyItem: { sku: 'KETTLE-17', productName: 'Kettle 1.7 l', quantity: 1, price: 49.95 },
    faultDescription: 'Does not heat up any more',
    storeId: 'store-7',
  },
});
if (!repair) throw new Error(`not created: ${JSON.stringify(error)}`);

const { data: begun } = await api.POST('/offline-repairs/{id}/begin-repair', {
  params: { path: { id: repair.id } },
  body: { assignedToId: 'tech-12' },
});
console.log(`${repair.rmaNumber} was ${repair.status} and is ${begun?.status}`);
