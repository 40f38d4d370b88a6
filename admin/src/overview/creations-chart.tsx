import '@mantine/core/styles/ColorSwatch.css';
import '@mantine/charts/styles.css';
import { BarChart } from '@mantine/charts';
import type { Overview } from '../../../contract/admin.ts';

const day = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short', timeZone: 'UTC' });

/** A chunk of its own, because the chart library is larger than the rest of the app. */
export const CreationsChart = ({ days }: { days: Overview['createdPerDay'] }) => (
  <BarChart
    h={220}
    data={days.map((each) => ({ ...each, day: day.format(new Date(`${each.day}T00:00:00Z`)) }))}
    dataKey="day"
    type="stacked"
    withLegend
    series={[
      { name: 'offlineRepairs', label: 'Offline repairs', color: 'blue.6' },
      { name: 'tradeReturns', label: 'Trade returns', color: 'teal.6' },
    ]}
  />
);
