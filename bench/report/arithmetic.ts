import type { Results } from './results.ts';

// How far one PostgreSQL carries, worked out from what was measured.

const PARCELS_A_YEAR = 6_300_000_000;
const RETURNED = 0.169;
/** A repair is created, sent, diagnosed, resolved and closed: so many entries, and as many events. */
const CHANGES = 5;
/** The busiest minute of the busiest day against the mean. */
const PEAK = 5;
const DAY_S = 86_400;
const KEPT_DAYS = 30;

const whole = (value: number): string => Math.round(value).toLocaleString('en');
const kilobytes = (bytes: number): string => `${(bytes / 1000).toFixed(1)} kB`;
const gigabytes = (bytes: number): string => `${whole(bytes / 1e9)} GB`;

export const arithmetic = ({ rows, extras }: Results): string => {
  const perSecondOf = (work: RegExp): number =>
    rows.find((row) => row.engine === 'postgres' && work.test(row.work))?.measured ?? Number.NaN;
  const created = perSecondOf(/^create, 1,000 shops/);
  const moved = perSecondOf(/^moves, 20 shops/);
  const drained = perSecondOf(/^webhooks drained/);
  const hot = perSecondOf(/^create, one hot shop/);
  const { perRepair, perTimelineEntry, perDelivery } = extras.bytes ?? {
    perRepair: Number.NaN,
    perTimelineEntry: Number.NaN,
    perDelivery: Number.NaN,
  };
  const rmasADay = (PARCELS_A_YEAR / 365) * RETURNED;
  const rmasASecond = rmasADay / DAY_S;
  const kept = perRepair + CHANGES * perTimelineEntry;

  return `
The largest retailer one can name: Amazon's own carrier delivered 6.3 billion parcels in the United States in 2024 ([Pitney Bowes](https://www.parcelandpostaltechnologyinternational.com/news/parcels/us-parcel-volume-growth-outpaces-revenue-pitney-bowes-reveals.html)), and retailers there took back 16.9 % of what they sold ([National Retail Federation](https://chainstoreage.com/nrf-2024-retail-returns-total-890-billion)). If parcels come back as sales do, that is ${(rmasADay / 1e6).toFixed(1)} million returns a day.

| what | a day | a second, mean | a second, peak (× ${PEAK}) | measured here |
|---|---|---|---|---|
| creations | ${whole(rmasADay)} | ${whole(rmasASecond)} | ${whole(rmasASecond * PEAK)} | ${whole(created)}/s |
| changes (${CHANGES - 1} after each creation) | ${whole(rmasADay * (CHANGES - 1))} | ${whole(rmasASecond * (CHANGES - 1))} | ${whole(rmasASecond * (CHANGES - 1) * PEAK)} | ${whole(moved)}/s |
| deliveries (${CHANGES} events each) | ${whole(rmasADay * CHANGES)} | ${whole(rmasASecond * CHANGES)} | ${whole(rmasASecond * CHANGES * PEAK)} | ${whole(drained)}/s |

On disk, indexes included, a repair takes ${kilobytes(perRepair)}, a timeline entry ${kilobytes(perTimelineEntry)} and a delivery ${kilobytes(perDelivery)}; deliveries are deleted after ${KEPT_DAYS} days. So a return with its ${CHANGES} entries takes ${kilobytes(kept)} for good: ${gigabytes(rmasADay * kept)} a day, ${((rmasADay * kept * 365) / 1e12).toFixed(1)} TB a year, and beside it a steady ${gigabytes(rmasADay * KEPT_DAYS * CHANGES * perDelivery)} of deliveries.

So a single PostgreSQL serves the requests of any one shop. What ends first is the disk, and the time that vacuum and backup take. Then, in this order:

1. **Give PostgreSQL a machine of its own** with fast disks, and run \`ROLE=api\` and \`ROLE=worker\` as processes of their own beside it, as many as there are cores. Nothing has to be changed: limits, numbers, allowances and deliveries hold across processes.
2. **Partition by time.** \`webhook_deliveries\` and \`timeline\` grow fastest and are read by recent ids. Ids rise with time, so with range partitions by id old rows are dropped instead of deleted.
3. **Split by shop.** Nothing of one shop refers to another: every table begins with the shop or belongs to one of its returns, and numbers, allowances and totals are counted per shop. Run one installation (service and PostgreSQL) per group of shops. The proxy chooses the installation from a small directory, by the hash of the API key and, in the admin app, by the email. Two installations carry twice as much; only the rate limits per address are then counted in each separately.
4. **One shop cannot be split**, since its numbers come from one row: ${whole(hot)} creations a second were measured in one shop, ${whole(hot / rmasASecond)} times the mean of the retailer above.`.trim();
};
