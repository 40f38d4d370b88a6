import type { ShopSettings } from '../../../../contract/shop-settings.ts';
import { dateFormat } from '../../format.ts';
import { texts } from '../../texts.ts';
import { isErased } from '../two-lines.tsx';
import { Barcode, QrCode } from './codes.tsx';
import styles from './slip.module.css';

const words = texts.print;

export interface SlipData {
  heading: string;
  rmaNumber: string;
  createdAt: string;
  warning: string | null;
  customer: string;
  phone?: string | null;
  /** Until when it is promised. */
  dueAt?: string | null;
  subject: string;
  fault: string;
  facts: readonly (readonly [label: string, value: string | null])[];
  items: readonly { sku: string; name: string; quantity: string }[];
}

interface SlipProps {
  letterhead: Omit<ShopSettings, 'currency'>;
  slip: SlipData;
  size: SlipSize;
  copy: 'shop' | 'customer';
}

export const Slip = ({ size, ...props }: SlipProps) => (
  <article className={styles['sheet']} data-size={size} aria-label={words.slipOf(props.slip.rmaNumber)}>
    {size === 'label' ? <LabelSlip {...props} /> : <PaperSlip {...props} />}
  </article>
);

type Content = Omit<SlipProps, 'size'>;

const dateOf = (at: string, timeZone: string | null, dateStyle: 'long' | 'medium' = 'long'): string =>
  dateFormat({ dateStyle, ...(timeZone ? { timeZone } : {}) }).format(new Date(at));

const PaperSlip = ({ letterhead, slip, copy }: Content) => (
  <>
    <Head letterhead={letterhead} />
    <div className={styles['title']}>
      <div>
        <p className={styles['kind']}>
          {slip.heading}
          {copy === 'customer' ? ` · ${words.yourCopy}` : ''}
        </p>
        <p className={styles['number']}>{slip.rmaNumber}</p>
        <p className={styles['date']}>{dateOf(slip.createdAt, letterhead.timeZone)}</p>
      </div>
      <div className={styles['codes']}>
        <div className={styles['bars']}>
          <Barcode text={slip.rmaNumber} className={styles['barcode']} />
          <span>{slip.rmaNumber}</span>
        </div>
        <QrCode text={slip.rmaNumber} label={words.qrCodeOf(slip.rmaNumber)} className={styles['qr']} />
      </div>
    </div>
    {slip.warning ? <p className={styles['warning']}>{slip.warning}</p> : null}
    <dl className={styles['facts']}>
      {slip.facts.map(([label, value]) =>
        value ? (
          <div key={label}>
            <dt>{label}</dt>
            <dd dir="auto" data-erased={isErased(value) || undefined}>
              {value}
            </dd>
          </div>
        ) : null,
      )}
    </dl>
    {slip.items.length > 0 ? <Items items={slip.items} /> : null}
    <footer className={styles['foot']}>
      {letterhead.slipText ? <p className={styles['text']}>{letterhead.slipText}</p> : null}
      <div className={styles['signature']}>
        <span>{words.date}</span>
        <span>{copy === 'customer' ? words.receivedByShop : words.customerSignature}</span>
        <span className={styles['again']}>{slip.rmaNumber}</span>
      </div>
    </footer>
  </>
);

const Head = ({ letterhead: { shopName, name, logo, ...shop } }: Pick<Content, 'letterhead'>) => (
  <header className={styles['head']}>
    {logo ? <img src={logo} alt="" className={styles['logo']} /> : null}
    <div className={styles['shop']}>
      <strong>{name ?? shopName}</strong>
      {[...shop.address, shop.phone, shop.email].filter(Boolean).map((line, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: two lines may be equal
        <span key={index}>{line}</span>
      ))}
    </div>
  </header>
);

const Items = ({ items }: Pick<SlipData, 'items'>) => (
  <table className={styles['items']}>
    <thead>
      <tr>
        <th scope="col">{words.product}</th>
        <th scope="col">{words.sku}</th>
        <th scope="col" className={styles['quantity']}>
          {words.quantity}
        </th>
      </tr>
    </thead>
    <tbody>
      {items.map(({ sku, name, quantity }, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: lines have no identity of their own and never change
        <tr key={index}>
          <td dir="auto">{name}</td>
          <td>{sku}</td>
          <td className={styles['quantity']}>{quantity}</td>
        </tr>
      ))}
    </tbody>
  </table>
);

const LabelSlip = ({ letterhead, slip }: Content) => {
  const serial = slip.facts.find(([label]) => label === words.serialNumber)?.[1];
  return (
    <>
      <p className={styles['label-shop']}>{letterhead.name ?? letterhead.shopName}</p>
      <Barcode text={slip.rmaNumber} className={styles['barcode']} />
      <p className={styles['number']}>{slip.rmaNumber}</p>
      {slip.warning ? <p className={styles['warning']}>{slip.warning}</p> : null}
      <p className={styles['label-subject']} dir="auto">
        {slip.subject}
      </p>
      {serial ? <p className={styles['label-line']}>{words.serialOf(serial)}</p> : null}
      <p className={styles['label-line']} dir="auto" data-erased={isErased(slip.customer) || undefined}>
        {slip.customer}
      </p>
      {slip.phone ? <p className={styles['label-line']}>{slip.phone}</p> : null}
      <p className={styles['label-fault']} dir="auto" data-erased={isErased(slip.fault) || undefined}>
        {slip.fault}
      </p>
      <div className={styles['label-foot']}>
        <QrCode text={slip.rmaNumber} label={words.qrCodeOf(slip.rmaNumber)} className={styles['qr']} />
        <span>
          {slip.heading}
          <br />
          {dateOf(slip.createdAt, letterhead.timeZone)}
          {slip.dueAt ? (
            <strong className={styles['label-due']}>
              {words.due(dateOf(slip.dueAt, letterhead.timeZone, 'medium'))}
            </strong>
          ) : null}
        </span>
      </div>
    </>
  );
};

export type SlipSize = keyof typeof words.sizes;
