import { CloseButton } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { texts } from '../../texts.ts';
import { ButtonLink } from '../../ui/links.tsx';
import { LoadingRows } from '../../ui/query-view.tsx';
import { Hint, isErased, OrErased } from '../../ui/two-lines.tsx';
import { Assignee, DueCell, StatusBadge } from '../badges.tsx';
import { ReturnTimeline } from '../detail/timeline.tsx';
import { type AnyReturn, isPartlyReceived, type Kind } from '../kinds.ts';
import { piecesOf, useMoney } from '../numbers.ts';
import { timelineQuery } from '../queries.ts';
import styles from './row-preview.module.css';

const ENTRIES = 4;
const { columns: headers } = texts.list;

/** What a row has no room for, beside the list. It follows the cursor. */
export const RowPreview = ({ kind, item, onClose }: { kind: Kind; item: AnyReturn; onClose(): void }) => (
  <aside className={styles['preview']} aria-label={texts.list.preview(item.rmaNumber)}>
    <div className={styles['head']}>
      <strong className={styles['number']}>{item.rmaNumber}</strong>
      <CloseButton aria-label={texts.list.closePreview} onClick={onClose} />
    </div>
    <div className={styles['state']}>
      <StatusBadge status={item.status} isPartly={isPartlyReceived(item)} />
      <DueCell {...item} />
    </div>
    <dl className={styles['facts']}>
      <Facts item={item} />
      <Fact label={headers.assignee}>
        <Assignee person={item.assignee} />
      </Fact>
    </dl>
    <ButtonLink to={kind.detail} params={{ id: item.id }} fullWidth>
      {texts.list.open}
    </ButtonLink>
    <h3 className={styles['title']}>{texts.list.latest}</h3>
    <LatestEntries kind={kind} id={item.id} />
  </aside>
);

const Facts = ({ item }: { item: AnyReturn }) => {
  const money = useMoney();
  const phone = item.customerPhone && !isErased(item.customerPhone) ? item.customerPhone : null;
  const customer = (
    <>
      <OrErased>{item.customerName}</OrErased>
      {phone ? <span className={styles['line']}>{phone}</span> : null}
    </>
  );
  if ('faultyItem' in item)
    return (
      <>
        <Fact label={texts.list.fault}>{item.faultDescription}</Fact>
        <Fact label={texts.today.item}>{item.faultyItem.productName}</Fact>
        <Fact label={headers.customer}>{customer}</Fact>
        <Fact label={headers.store}>{item.storeId}</Fact>
      </>
    );
  return (
    <>
      <Fact label={texts.list.reason}>{item.reason}</Fact>
      <Fact label={headers.company}>{item.companyName}</Fact>
      <Fact label={texts.list.contact}>{customer}</Fact>
      <Fact label={headers.lines}>{piecesOf(item.items)}</Fact>
      <Fact label={headers.total}>{money(item.declaredAmount)}</Fact>
    </>
  );
};

const Fact = ({ label, children }: { label: string; children: ReactNode }) =>
  children ? (
    <>
      <dt>{label}</dt>
      <dd>{children}</dd>
    </>
  ) : null;

const LatestEntries = ({ kind, id }: { kind: Kind; id: string }) => {
  const { data, error } = useQuery(timelineQuery(kind, id));
  if (error) return <Hint>{texts.list.entriesNotRead}</Hint>;
  return data ? <ReturnTimeline entries={data.slice(-ENTRIES)} /> : <LoadingRows rows={2} />;
};
