import { Alert } from '@mantine/core';
import { getRouteApi } from '@tanstack/react-router';
import { TriangleAlert } from 'lucide-react';
import type { AdminOfflineRepair as OfflineRepair } from '../../../../contract/admin-returns.ts';
import { SecondLine } from '../../ui/second-line.tsx';
import { REPAIRS } from '../kinds.ts';
import { DISPOSITION_LABELS } from '../labels.ts';
import { REPAIR_MOVES } from '../moves/moves.ts';
import { formatAmount, formatNumber } from '../numbers.ts';
import { EmailLink, PhoneLink } from './contact-links.tsx';
import { Facts } from './facts.tsx';
import { ReturnDetail } from './return-detail.tsx';
import { Slip } from './slip.tsx';

const route = getRouteApi('/inside/offline-repairs/$id');

export const RepairPage = () => {
  const { id } = route.useParams();
  return (
    <ReturnDetail<OfflineRepair>
      key={id}
      kind={REPAIRS}
      id={id}
      moves={REPAIR_MOVES}
      warning={({ isDangerous }) =>
        isDangerous ? (
          <Alert color="orange" icon={<TriangleAlert aria-hidden />} title="Dangerous goods">
            This item falls under the shop’s dangerous-goods rules. Pack, label and send it accordingly.
          </Alert>
        ) : null
      }
      facts={(repair) => <RepairFacts repair={repair} />}
      slip={(repair) => <RepairSlip repair={repair} />}
    />
  );
};

const RepairFacts = ({ repair }: { repair: OfflineRepair }) => {
  const { faultyItem: item, offlineDisposition } = repair;
  return (
    <>
      <Facts
        title="Item and fault"
        facts={[
          ['Fault', repair.faultDescription],
          ['Product', item.productName],
          ['Variant', item.variantTitle],
          ['Sku', item.sku],
          ['Serial number', item.serialNumber],
          ['Quantity', formatNumber(item.quantity)],
          ['Price', formatAmount(item.price)],
          ['Weight', item.weight === null ? null : formatNumber(item.weight)],
          ['Notes', repair.notes],
          ['Handed over', repair.replacementSku],
        ]}
      />
      <Facts
        title="Repair"
        facts={[
          ['Technician', repair.assignedToId],
          ['Repair notes', repair.repairNotes],
          [
            'Disposition',
            offlineDisposition && (
              <>
                {DISPOSITION_LABELS[offlineDisposition].label}
                <SecondLine>{DISPOSITION_LABELS[offlineDisposition].description}</SecondLine>
              </>
            ),
          ],
        ]}
      />
      <Facts
        title="Customer"
        facts={[
          ['Name', repair.customerName],
          ['E-mail', <EmailLink key="email" address={repair.customerEmail} />],
          ['Phone', repair.customerPhone && <PhoneLink key="phone" number={repair.customerPhone} />],
        ]}
      />
      <Facts
        title="Order and shipping"
        facts={[
          ['Order', repair.orderNumber],
          ['Store', repair.storeId],
          ['Carrier', repair.carrierName],
          ['Tracking', repair.trackingNumber],
          ['Your reference', repair.externalRef],
          ['Source system', repair.externalSource],
        ]}
      />
    </>
  );
};

const RepairSlip = ({ repair }: { repair: OfflineRepair }) => {
  const { faultyItem: item } = repair;
  return (
    <Slip
      heading="Repair"
      rmaNumber={repair.rmaNumber}
      createdAt={repair.createdAt}
      warning={repair.isDangerous ? 'Dangerous goods' : null}
      facts={[
        ['Customer', repair.customerName],
        ['Phone', repair.customerPhone],
        ['Order', repair.orderNumber],
        ['Store', repair.storeId],
        ['Item', `${formatNumber(item.quantity)} × ${item.productName}`],
        ['Variant', item.variantTitle],
        ['Sku', item.sku],
        ['Serial number', item.serialNumber],
        ['Fault', repair.faultDescription],
        ['Notes', repair.notes],
      ]}
    />
  );
};
