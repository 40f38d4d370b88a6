import type { ShopSettings } from '../../../contract/shop-settings.ts';
import { Slip, type SlipData } from '../ui/slip/slip.tsx';
import styles from './slip-preview.module.css';

const EXAMPLE: Omit<SlipData, 'createdAt'> = {
  heading: 'Repair',
  rmaNumber: '#RMA-000123',
  warning: null,
  customer: 'Ada Pereira',
  subject: 'Kettle 1.7 l',
  fault: 'Does not heat up any more',
  facts: [
    ['Customer', 'Ada Pereira\n+44 20 7946 0018'],
    ['Order', 'SO-10042'],
    ['Item', 'Kettle 1.7 l\nBrushed steel'],
    ['Serial number', 'SN-448120'],
    ['Fault', 'Does not heat up any more'],
  ],
  items: [],
};

/** A slip as it would be printed with these settings. */
export const SlipPreview = ({ settings }: { settings: ShopSettings }) => (
  <div className={styles['preview']}>
    <Slip
      letterhead={settings}
      slip={{ ...EXAMPLE, createdAt: new Date().toISOString() }}
      size="a5"
      copy="customer"
    />
  </div>
);
