import { BASE_PATH, rmaNumber } from '../contract/common.ts';
import { OFFLINE_REPAIR_STATUSES, TRADE_RETURN_STATUSES } from '../contract/lifecycle.ts';
import { readConfig } from '../src/config.ts';
import { openDatabase } from '../src/db/open.ts';
import { newId } from '../src/ids.ts';
import { percentile, printTable } from './figures.ts';
import { type Engine, type Service, startService } from './service.ts';

// How long the pages of a large shop take: its lists, its searches and its overview, from outside, one at a time.

const RMAS = Number(process.argv[2] ?? 100_000);
const ROUNDS = 20;
const DAY_MS = 86_400_000;
const BATCH = 500;

/** Half repairs, half trade returns, spread over 200 days and all statuses, straight into the database. */
const fill = async (service: Service, shopId: string, clientId: string): Promise<void> => {
  const database = openDatabase(readConfig(service.env), () => {});
  const now = Date.now();
  const shared = (i: number) => {
    const at = now - Math.floor(((RMAS - i) / RMAS) * 200 * DAY_MS);
    return {
      id: newId(at),
      shop_id: shopId,
      client_id: i % 10 === 0 ? null : clientId,
      number: i + 1,
      external_ref: `POS-${i}`,
      external_source: `till-${i % 7}`,
      customer_email: `customer${i}@example.com`,
      customer_name: `Customer ${i}`,
      customer_phone: null,
      search_text:
        `${rmaNumber(i + 1)} so-${i} customer ${i} customer${i}@example.com sku-${i % 5000} sn-${i}`.toLowerCase(),
      created_at: at,
      updated_at: at,
    };
  };
  for (let start = 0; start < RMAS; start += BATCH) {
    const numbers = Array.from({ length: Math.min(BATCH, RMAS - start) }, (_, i) => start + i);
    const item = { productName: 'P', quantity: 1, price: 9.95, variantTitle: null, weight: null };
    await database.db
      .insertInto('offline_repairs')
      .values(
        numbers
          .filter((i) => i % 2 === 0)
          .map((i) => ({
            ...shared(i),
            status: OFFLINE_REPAIR_STATUSES[(i / 2) % OFFLINE_REPAIR_STATUSES.length] ?? 'OFFLINE_CLOSED',
            order_number: `SO-${i}`,
            faulty_item: JSON.stringify({ sku: `SKU-${i % 5000}`, serialNumber: `SN-${i}`, ...item }),
            fault_description: 'Does not heat up any more',
            store_id: `store-${i % 40}`,
            replacement_sku: null,
            notes: null,
            is_dangerous: 0,
            tracking_number: null,
            carrier_name: null,
            offline_disposition: null,
            assigned_to_id: null,
            repair_notes: null,
          })),
      )
      .execute();
    await database.db
      .insertInto('trade_returns')
      .values(
        numbers
          .filter((i) => i % 2 === 1)
          .map((i) => ({
            ...shared(i),
            status: TRADE_RETURN_STATUSES[((i - 1) / 2) % TRADE_RETURN_STATUSES.length] ?? 'TRADE_RESOLVED',
            trade_order_number: `TO-${i}`,
            company_name: `Company ${i % 300}`,
            company_id: `company-${i % 300}`,
            reason: 'Damaged in transit',
            items: JSON.stringify([{ sku: `SKU-${i % 5000}`, tradeLineItemId: null, ...item }]),
            shipping_address: JSON.stringify({ street: 's', suburb: 's', state: 's', postcode: 'p' }),
            order_date: null,
            customer_notes: null,
            fault_description: null,
            additional_comment: null,
          })),
      )
      .execute();
  }
  await database.db
    .updateTable('shop_counters')
    .set({ last_number: RMAS })
    .where('shop_id', '=', shopId)
    .execute();
  await database.close();
};

const PAGES: [string, string][] = [
  ['overview', '/admin/api/overview'],
  ['repairs, first page', '/admin/api/offline-repairs'],
  ['repairs by status', '/admin/api/offline-repairs?status=OFFLINE_REPAIR'],
  ['repairs, page 1,000', '/admin/api/offline-repairs?page=1000'],
  ['repairs, search for a number', '/admin/api/offline-repairs?q=%23RMA-000777'],
  ['repairs, search that finds nothing', '/admin/api/offline-repairs?q=nowhere-to-be-found'],
  ['trade returns, first page', '/admin/api/trade-returns'],
  ['trade returns, search for a company', '/admin/api/trade-returns?q=customer%20777'],
  ['external list, first page', `${BASE_PATH}/offline-repairs`],
  ['external list by externalRef', `${BASE_PATH}/offline-repairs?externalRef=POS-4242`],
];

const measure = async (engine: Engine): Promise<(string | number)[][]> => {
  const service = await startService(engine);
  const shop = service.cli('shop', 'create', '--name', 'Large', '--plan', 'ENTERPRISE');
  const client = service.cli('client', 'create', '--shop', shop.id, '--name', 'Till');
  const account = { email: 'admin@large.example', password: 'a password for benchmarks' };
  service.cli(
    'user',
    'create',
    '--shop',
    shop.id,
    '--email',
    account.email,
    '--role',
    'ADMIN',
    '--password',
    account.password,
  );
  await fill(service, shop.id, client.id);

  const session = await fetch(`${service.url}/admin/api/session`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(account),
  });
  const cookie = session.headers.get('set-cookie')?.split(';')[0] ?? '';
  const rows: (string | number)[][] = [];
  for (const [name, path] of PAGES) {
    const times: number[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      const start = performance.now();
      const response = await fetch(`${service.url}${path}`, {
        headers: { cookie, 'x-api-key': client.apiKey },
      });
      await response.arrayBuffer();
      if (response.status !== 200) throw new Error(`${path} answered ${response.status}`);
      times.push(performance.now() - start);
    }
    rows.push([engine, name, percentile(times, 0.5), percentile(times, 0.95)]);
  }
  await service.stop();
  return rows;
};

const rows = [...(await measure('sqlite')), ...(await measure('postgres'))];
process.stdout.write(`${RMAS.toLocaleString('en')} RMAs in one shop, milliseconds\n`);
printTable(['engine', 'page', 'p50', 'p95'], rows);
