import encode from 'qr';
import { code128Widths } from './code128.ts';

/** Scanners need this much white on either side, in modules. */
const QUIET_ZONE = 10;
const HEIGHT = 40;

/** A Code 128 bar code, which every till scanner reads. */
export const Barcode = ({ text, className }: { text: string; className?: string | undefined }) => {
  let at = QUIET_ZONE;
  const bars: string[] = [];
  for (const [index, width] of code128Widths(text).entries()) {
    if (index % 2 === 0) bars.push(`M${at} 0h${width}v${HEIGHT}h-${width}z`);
    at += width;
  }
  return (
    <svg
      viewBox={`0 0 ${at + QUIET_ZONE} ${HEIGHT}`}
      role="img"
      aria-label={`Bar code of ${text}`}
      shapeRendering="crispEdges"
      preserveAspectRatio="none"
      className={className}
    >
      <path d={bars.join('')} fill="#000" />
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
