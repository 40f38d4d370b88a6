import { Alert } from '@mantine/core';
import { getRouteApi } from '@tanstack/react-router';
import { MapPin, Package, TriangleAlert, UserRound } from 'lucide-react';
import type { AdminOfflineRepair as OfflineRepair } from '../../../../contract/admin-returns.ts';
import { SecondLine } from '../../ui/two-lines.tsx';
import { DISPOSITION_LABELS, REPAIRS } from '../kinds.ts';
import { isDone, REPAIR_MOVES } from '../moves/moves.ts';
import { formatNumber, useMoney } from '../numbers.ts';
import { EmailLink, Facts, FoldedText, PhoneLink, Quiet, type SummaryPart } from './facts.tsx';
import { ReturnDetail } from './return-detail.tsx';

const route = getRouteApi('/inside/offline-repairs/$id');

export const RepairPage = () => {
  const { id } = route.useParams();
  return (
    <ReturnDetail<OfflineRepair>
      key={id}
      kind={REPAIRS}
      id={id}
      moves={REPAIR_MOVES}
      summary={summaryOf}
      warning={({ isDangerous }) =>
        isDangerous ? (
          <Alert color="orange" icon={<TriangleAlert aria-hidden />} title="Dangerous goods">
            This item falls under the shop’s dangerous-goods rules. Pack, label and send it accordingly.
          </Alert>
        ) : null
      }
      facts={(repair) => <RepairFacts repair={repair} />}
    />
  );
};

const quantityOf = (quantity: number): string => (quantity === 1 ? '' : `${formatNumber(quantity)} × `);

const summaryOf = (repair: OfflineRepair): SummaryPart[] => {
  const { faultyItem: item, customerPhone, trackingNumber } = repair;
  return [
    {
      label: 'Customer',
      icon: UserRound,
      lead: repair.customerName,
      lines: [
        customerPhone && <PhoneLink number={customerPhone} />,
        <EmailLink key="email" address={repair.customerEmail} />,
      ],
    },
    {
      label: 'Item',
      icon: Package,
      lead: `${quantityOf(item.quantity)}${item.productName}`,
      lines: [item.serialNumber && `Serial ${item.serialNumber}`, <Quiet key="sku">{item.sku}</Quiet>],
    },
    {
      label: 'Where',
      icon: MapPin,
      lead: repair.storeId,
      lines: [
        repair.erasedAt || trackingNumber ? (
          [repair.carrierName, trackingNumber].filter(Boolean).join(' ')
        ) : (
          <Quiet key="none">No tracking yet</Quiet>
        ),
        repair.assignedToId && `With technician ${repair.assignedToId}`,
      ],
    },
  ];
};

const Disposition = ({ repair: { offlineDisposition, status } }: { repair: OfflineRepair }) => {
  if (!offlineDisposition) return null;
  const { label, description } = DISPOSITION_LABELS[offlineDisposition];
  return (
    <>
      {label}
      <SecondLine>
        {isDone(status) ? description : 'Left from before: this repair was opened again.'}
      </SecondLine>
    </>
  );
};

const RepairFacts = ({ repair }: { repair: OfflineRepair }) => {
  const { faultyItem: item, repairNotes, notes } = repair;
  const money = useMoney();
  return (
    <>
      <Facts
        title="Item and fault"
        facts={[
          ['Fault', <FoldedText key="fault">{repair.faultDescription}</FoldedText>],
          ['Notes', notes && <FoldedText key="notes">{notes}</FoldedText>],
          ['Variant', item.variantTitle],
          ['Quantity', formatNumber(item.quantity)],
          ['Price', money(item.price)],
          ['Weight', item.weight === null ? null : formatNumber(item.weight)],
          ['Handed over', repair.replacementSku],
        ]}
      />
      <Facts
        title="Repair"
        facts={[
          ['Repair notes', repairNotes && <FoldedText key="notes">{repairNotes}</FoldedText>],
          ['Disposition', repair.offlineDisposition && <Disposition key="disposition" repair={repair} />],
        ]}
      />
      <Facts
        title="Order"
        facts={[
          ['Order', repair.orderNumber],
          ['Your reference', repair.externalRef],
          ['Source system', repair.externalSource],
        ]}
      />
    </>
  );
};
