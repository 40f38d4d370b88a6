import { Skeleton, Text } from '@mantine/core';
import { queryOptions, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { RelatedReturns } from '../../../../contract/admin-returns.ts';
import { api } from '../../api.ts';
import { QueryError } from '../../ui/error-alert.tsx';
import { TextLink } from '../../ui/links.tsx';
import { Section } from '../../ui/page-frame.tsx';
import { StatusBadge } from '../badges.tsx';
import { type AnyReturn, KIND_OF, type Kind, REPAIRS, TRADE_RETURNS } from '../kinds.ts';
import styles from './detail.module.css';

const relatedQuery = (kind: Kind, id: string) =>
  queryOptions({
    queryKey: [kind.path, id, 'related'],
    queryFn: () => api.get<RelatedReturns>(`${kind.path}/${encodeURIComponent(id)}/related`),
    staleTime: 60_000,
  });

/** Earlier repairs of the same item, and earlier returns of the same customer. */
export const Related = ({ kind, item }: { kind: Kind; item: AnyReturn }) => {
  const related = useQuery(relatedQuery(kind, item.id));
  const { data } = related;
  const serial = 'faultyItem' in item ? item.faultyItem.serialNumber : null;
  return (
    <Section title="Earlier returns">
      <QueryError query={related} title="Earlier returns could not be read" />
      {related.isPending ? <Skeleton height={64} /> : null}
      {data && data.sameSerial.total + data.sameCustomer.total === 0 ? (
        <Text size="sm" c="dimmed">
          None{' '}
          {kind === TRADE_RETURNS
            ? 'of this company or customer'
            : serial
              ? 'of this serial number or customer'
              : 'of this customer'}
          .
        </Text>
      ) : null}
      {data && serial ? (
        <Group title="Of this serial number" kind={REPAIRS} search={serial} found={data.sameSerial} />
      ) : null}
      {data ? (
        <Group
          title={kind === TRADE_RETURNS ? 'Of this company or customer' : 'Of this customer'}
          kind={kind}
          search={item.customerEmail}
          found={withoutRepeats(data)}
        />
      ) : null}
    </Section>
  );
};

/** What the first group shows already is not shown again. */
const withoutRepeats = ({ sameSerial, sameCustomer }: RelatedReturns): RelatedReturns['sameCustomer'] => {
  const shown = new Set(sameSerial.items.map(({ id }) => id));
  const items = sameCustomer.items.filter(({ id }) => !shown.has(id));
  return items.length === 0 ? { items, total: 0 } : { ...sameCustomer, items };
};

interface GroupProps {
  title: string;
  kind: Kind;
  /** What finds all of them in the list. */
  search: string;
  found: RelatedReturns['sameSerial'];
}

const Group = ({ title, kind, search, found: { items, total } }: GroupProps) => {
  if (total === 0) return null;
  return (
    <section>
      <Text component="h4" size="xs" fw={600} c="dimmed" mt="xs" mb={2}>
        {title}
      </Text>
      <ul className={styles['related']}>
        {items.map((each) => (
          <li key={each.id}>
            <Link to={KIND_OF[each.kind].detail} params={{ id: each.id }} preload={false}>
              <span className={styles['number']}>{each.rmaNumber}</span>
              <span className={styles['title']} title={each.title} dir="auto">
                {each.title}
              </span>
              <StatusBadge status={each.status} size="sm" />
            </Link>
          </li>
        ))}
      </ul>
      {total > items.length ? (
        <TextLink to={kind.path} search={{ q: search }} size="sm">
          All {total.toLocaleString()}
        </TextLink>
      ) : null}
    </section>
  );
};
