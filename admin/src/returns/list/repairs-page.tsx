import { TriangleAlert } from 'lucide-react';
import type { AdminOfflineRepair } from '../../../../contract/admin-returns.ts';
import { texts } from '../../texts.ts';
import { isErased, OrErased, TwoLines } from '../../ui/two-lines.tsx';
import { describeStatus, dispositionLabel, REPAIRS } from '../kinds.ts';
import { REPAIR_MOVES } from '../moves/moves.ts';
import { type CsvColumn, csvTime } from './csv.ts';
import { ReturnsList } from './returns-list.tsx';
import styles from './returns-table.module.css';
import type { ReturnColumn } from './returns-table.tsx';

const { columns: headers } = texts.list;

const COLUMNS: ReturnColumn<AdminOfflineRepair>[] = [
  {
    header: headers.item,
    isShared: true,
    inCard: true,
    cell: ({ faultyItem: { productName, quantity }, faultDescription, isDangerous }) => (
      <TwoLines
        first={
          <>
            {isDangerous ? (
              <TriangleAlert
                size={14}
                aria-label={texts.list.dangerous}
                role="img"
                className={styles['sign'] ?? ''}
              />
            ) : null}
            {quantity === 1 ? '' : `${quantity} × `}
            {productName}
          </>
        }
        second={<OrErased>{faultDescription}</OrErased>}
      />
    ),
  },
  {
    header: headers.customer,
    width: '16%',
    inCard: true,
    cell: ({ customerName, customerPhone }) => (
      <TwoLines
        first={<OrErased>{customerName}</OrErased>}
        second={customerPhone && !isErased(customerPhone) ? customerPhone : undefined}
      />
    ),
  },
  {
    header: headers.store,
    width: '7rem',
    wideOnly: 'wide',
    isLast: true,
    cell: ({ storeId }) => <TwoLines first={storeId} />,
  },
];

const CSV: CsvColumn<AdminOfflineRepair>[] = [
  { header: 'Number', value: ({ rmaNumber }) => rmaNumber },
  { header: 'Status', value: ({ status }) => describeStatus(status).label },
  { header: 'Order number', value: ({ orderNumber }) => orderNumber },
  { header: 'Store', value: ({ storeId }) => storeId },
  { header: 'Customer', value: ({ customerName }) => customerName },
  { header: 'Email', value: ({ customerEmail }) => customerEmail },
  { header: 'Phone', value: ({ customerPhone }) => customerPhone },
  { header: 'SKU', value: ({ faultyItem }) => faultyItem.sku },
  { header: 'Product', value: ({ faultyItem }) => faultyItem.productName },
  { header: 'Variant', value: ({ faultyItem }) => faultyItem.variantTitle },
  { header: 'Serial number', value: ({ faultyItem }) => faultyItem.serialNumber },
  { header: 'Quantity', value: ({ faultyItem }) => faultyItem.quantity },
  { header: 'Price', value: ({ faultyItem }) => faultyItem.price },
  { header: 'Weight', value: ({ faultyItem }) => faultyItem.weight },
  { header: 'Dangerous goods', value: ({ isDangerous }) => (isDangerous ? 'yes' : 'no') },
  { header: 'Fault', value: ({ faultDescription }) => faultDescription },
  { header: 'Replacement SKU', value: ({ replacementSku }) => replacementSku },
  {
    header: 'Outcome',
    value: ({ offlineDisposition }) => offlineDisposition && dispositionLabel(offlineDisposition),
  },
  { header: 'Assigned to', value: ({ assignee }) => assignee?.name ?? null },
  { header: 'Due', value: ({ dueAt }) => dueAt && csvTime(dueAt) },
  { header: 'Technician', value: ({ assignedToId }) => assignedToId },
  { header: 'Repair notes', value: ({ repairNotes }) => repairNotes },
  { header: 'Notes', value: ({ notes }) => notes },
  { header: 'Carrier', value: ({ carrierName }) => carrierName },
  { header: 'Tracking number', value: ({ trackingNumber }) => trackingNumber },
  { header: 'Your reference', value: ({ externalRef }) => externalRef },
  { header: 'Source system', value: ({ externalSource }) => externalSource },
  { header: 'Created', value: ({ createdAt }) => csvTime(createdAt) },
  { header: 'Last change', value: ({ updatedAt }) => csvTime(updatedAt) },
  { header: 'Id', value: ({ id }) => id },
];

/** Every parcel has its own tracking number; the other moves can be made for many returns at once. */
const BULK_MOVES = REPAIR_MOVES.filter(({ action }) => action !== 'tracking');

export const RepairsPage = () => (
  <ReturnsList<AdminOfflineRepair> kind={REPAIRS} columns={COLUMNS} csv={CSV} moves={BULK_MOVES} />
);
