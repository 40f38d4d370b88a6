import encode from 'qr';
import { texts } from '../../texts.ts';
import { barsOf } from '../mark.tsx';
import { code128Widths } from './code128.ts';

/** Scanners need this much white on either side, in modules. */
const QUIET_ZONE = 10;
const HEIGHT = 40;

/** A Code 128 bar code, which every till scanner reads. */
export const Barcode = ({ text, className }: { text: string; className?: string | undefined }) => {
  const { path, end } = barsOf(code128Widths(text), HEIGHT, QUIET_ZONE);
  return (
    <svg
      viewBox={`0 0 ${end + QUIET_ZONE} ${HEIGHT}`}
      role="img"
      aria-label={texts.print.barcodeOf(text)}
      shapeRendering="crispEdges"
      preserveAspectRatio="none"
      className={className}
    >
      <path d={path} fill="#000" />
    </svg>
  );
};

/** Modules of white around the code, without which cameras do not find it. */
const QUIET = 4;

interface Props {
  text: string;
  label: string;
  className?: string | undefined;
  width?: number;
}

/** A QR code, black on white in every colour scheme. */
export const QrCode = ({ text, label, className, width }: Props) => {
  const rows = encode(text, 'raw', { ecc: 'medium', border: QUIET });
  const path = rows
    .flatMap((row, y) => row.flatMap((isDark, x) => (isDark ? `M${x} ${y}h1v1h-1z` : [])))
    .join('');
  return (
    <svg
      role="img"
      aria-label={label}
      className={className}
      width={width}
      height={width}
      viewBox={`0 0 ${rows.length} ${rows.length}`}
      shapeRendering="crispEdges"
      style={{ background: '#fff' }}
    >
      <path d={path} fill="#000" />
    </svg>
  );
};
