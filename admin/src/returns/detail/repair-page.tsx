import { Alert } from '@mantine/core';
import { getRouteApi } from '@tanstack/react-router';
import { TriangleAlert } from 'lucide-react';
import type { AdminOfflineRepair as OfflineRepair } from '../../../../contract/admin-returns.ts';
import { formatNumber } from '../../format.ts';
import { texts } from '../../texts.ts';
import { SecondLine } from '../../ui/two-lines.tsx';
import { describeDisposition, REPAIRS } from '../kinds.ts';
import { isDone, REPAIR_MOVES } from '../moves/moves.ts';
import { useMoney } from '../numbers.ts';
import { Code, EmailLink, Facts, folded, ifCut, PhoneLink, type SummaryPart } from './facts.tsx';
import { ReturnDetail } from './return-detail.tsx';

const words = texts.detail;
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
          <Alert color="orange" icon={<TriangleAlert size={24} />} title={words.dangerous}>
            {words.dangerousHint}
          </Alert>
        ) : null
      }
      facts={(repair) => <RepairFacts repair={repair} />}
    />
  );
};

const quantityOf = (quantity: number): string => (quantity === 1 ? '' : `${formatNumber(quantity)} × `);

const summaryOf = ({ faultyItem: item, ...repair }: OfflineRepair): SummaryPart[] => [
  { label: words.fault, isMain: true, lead: repair.faultDescription },
  {
    label: words.item,
    lead: `${quantityOf(item.quantity)}${item.productName}`,
    lines: [<Code key="code">{item.serialNumber ?? item.sku}</Code>],
  },
  {
    label: words.customer,
    lead: repair.customerName,
    lines: [
      repair.customerPhone ? (
        <PhoneLink key="phone" number={repair.customerPhone} />
      ) : (
        <EmailLink key="email" address={repair.customerEmail} />
      ),
    ],
  },
];

const Disposition = ({ repair: { offlineDisposition, status } }: { repair: OfflineRepair }) => {
  if (!offlineDisposition) return null;
  const { label, description } = describeDisposition(offlineDisposition);
  return (
    <>
      {label}
      <SecondLine>{isDone(status) ? description : words.outcomeFromBefore}</SecondLine>
    </>
  );
};

/** What the till calls the technician; nothing where it is the person that the repair is assigned to. */
const technicianOf = ({ assignedToId, assignee }: OfflineRepair) =>
  assignedToId === null || assignedToId.toLowerCase() === assignee?.name.toLowerCase() ? null : (
    <>
      {assignedToId} <SecondLine>{words.fromTill}</SecondLine>
    </>
  );

const RepairFacts = ({ repair }: { repair: OfflineRepair }) => {
  const { faultyItem: item, trackingNumber, carrierName, customerPhone } = repair;
  const money = useMoney();
  return (
    <>
      <Facts
        title={words.item}
        facts={[
          [words.notes, folded(repair.notes)],
          [words.product, ifCut(item.productName)],
          [words.variant, item.variantTitle],
          [words.sku, <Code key="sku">{item.sku}</Code>],
          [words.serial, item.serialNumber && <Code>{item.serialNumber}</Code>],
          [words.quantity, item.quantity === 1 ? null : formatNumber(item.quantity)],
          [words.price, money(item.price)],
          [words.weight, item.weight === null ? null : formatNumber(item.weight)],
          [words.handedOver, repair.replacementSku && <Code>{repair.replacementSku}</Code>],
        ]}
      />
      <Facts
        title={words.repair}
        facts={[
          [words.repairNotes, folded(repair.repairNotes)],
          [words.outcome, repair.offlineDisposition && <Disposition repair={repair} />],
          [words.technician, technicianOf(repair)],
        ]}
      />
      <Facts
        title={words.customer}
        facts={[
          [words.name, ifCut(repair.customerName)],
          [words.phone, customerPhone && <PhoneLink number={customerPhone} />],
          [words.email, <EmailLink key="email" address={repair.customerEmail} />],
        ]}
      />
      <Facts
        title={words.storeAndOrder}
        facts={[
          [words.store, repair.storeId],
          [words.tracking, trackingNumber && [carrierName, trackingNumber].filter(Boolean).join(' ')],
          [words.order, <Code key="order">{repair.orderNumber}</Code>],
          [words.reference, repair.externalRef],
          [words.sourceSystem, repair.externalSource],
        ]}
      />
    </>
  );
};
