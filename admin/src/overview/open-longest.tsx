import { Text } from '@mantine/core';
import type { Overview } from '../../../contract/admin.ts';
import { StatusBadge } from '../returns/status-badge.tsx';
import { TextLink } from '../ui/links.tsx';
import plain from '../ui/plain-table.module.css';
import { RelativeTime } from '../ui/relative-time.tsx';
import { SecondLine } from '../ui/second-line.tsx';
import { TwoLines } from '../ui/two-lines.tsx';
import { Section } from './section.tsx';

const ADDRESSES = { OFFLINE_REPAIR: '/offline-repairs/$id', TRADE_RETURN: '/trade-returns/$id' } as const;

export const OpenLongest = ({ returns }: { returns: Overview['openLongest'] }) => (
  <Section title="Open longest">
    {returns.length === 0 ? (
      <Text c="dimmed">Nothing is open.</Text>
    ) : (
      <div className={plain['frame']}>
        <table className={plain['table']}>
          <thead>
            <tr>
              <th scope="col">Number</th>
              <th scope="col">Status</th>
              <th scope="col" className={plain['wide-only']}>
                Created
              </th>
              <th scope="col" className={plain['wide-only']}>
                Last change
              </th>
            </tr>
          </thead>
          <tbody>
            {returns.map((each) => (
              <tr key={each.id}>
                <td>
                  <TwoLines
                    first={
                      <TextLink to={ADDRESSES[each.kind]} params={{ id: each.id }} size="sm" fw={600}>
                        {each.rmaNumber}
                      </TextLink>
                    }
                    second={each.customerName}
                  />
                </td>
                <td>
                  <StatusBadge status={each.status} />
                  <div className={plain['narrow-only']} style={{ whiteSpace: 'nowrap' }}>
                    <SecondLine>
                      Created <RelativeTime at={each.createdAt} />
                    </SecondLine>
                  </div>
                </td>
                <td className={plain['wide-only']} style={{ whiteSpace: 'nowrap' }}>
                  <RelativeTime at={each.createdAt} />
                </td>
                <td className={plain['wide-only']} style={{ whiteSpace: 'nowrap' }}>
                  <RelativeTime at={each.updatedAt} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    )}
  </Section>
);
