import type { ExactMatch, FoundReturn } from '../../../contract/admin-search.ts';
import { StatusBadge } from '../returns/status-badge.tsx';
import styles from './search-dialog.module.css';

const MATCHES: Record<ExactMatch, string> = {
  number: 'This number',
  serial: 'This serial number',
  tracking: 'This tracking number',
  reference: 'This reference',
  order: 'This order',
};

interface Props {
  id: string;
  found: readonly FoundReturn[];
  active: number;
  onOpen(found: FoundReturn): void;
  onActive(index: number): void;
}

/** What was found. The field above keeps the focus, and says which one is active. */
export const FoundList = ({ id, found, active, onOpen, onActive }: Props) => (
  <div id={id} role="listbox" aria-label="Found" className={styles['list']}>
    {found.map((each, index) => (
      // biome-ignore lint/a11y/useKeyWithClickEvents: the field has the keys
      <div
        key={each.id}
        id={`${id}-${index}`}
        role="option"
        tabIndex={-1}
        aria-selected={index === active}
        className={styles['option']}
        onClick={() => onOpen(each)}
        onPointerMove={() => onActive(index)}
      >
        <span className={styles['number']}>{each.rmaNumber}</span>
        <span className={styles['who']}>
          <bdi>{each.customerName}</bdi>
          <small>
            <bdi>{each.about}</bdi> · {each.match ? MATCHES[each.match] : <bdi>{each.orderNumber}</bdi>}
          </small>
        </span>
        <StatusBadge status={each.status} />
      </div>
    ))}
  </div>
);
