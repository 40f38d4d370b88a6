import type { ReactNode } from 'react';
import { createPortal } from 'react-dom';
import { useSession } from '../../session/session.ts';
import { Barcode } from './barcode.tsx';

const day = new Intl.DateTimeFormat(undefined, { dateStyle: 'long' });

interface Props {
  heading: string;
  rmaNumber: string;
  createdAt: string;
  warning?: string | null;
  facts: [label: string, value: string | null][];
  children?: ReactNode;
}

/** The paper that travels with the goods. It shows in print only, and alone. */
export const Slip = ({ heading, rmaNumber, createdAt, warning, facts, children }: Props) => {
  const { shop } = useSession();
  return createPortal(
    <div className="slip" aria-hidden>
      <p className="slip-shop">
        {shop.name} · {heading}
      </p>
      <p className="slip-number">{rmaNumber}</p>
      <Barcode text={rmaNumber} />
      {warning ? <p className="slip-warning">{warning}</p> : null}
      <dl>
        {[['Date', day.format(new Date(createdAt))] as const, ...facts].map(([label, value]) =>
          value ? (
            <div key={label}>
              <dt>{label}</dt>
              <dd>{value}</dd>
            </div>
          ) : null,
        )}
      </dl>
      {children}
    </div>,
    document.body,
  );
};
