import encode from 'qr';

/** Modules of white around the code, without which cameras do not find it. */
const QUIET = 4;

interface Props {
  text: string;
  label: string;
  className?: string | undefined;
  /** In pixels; otherwise the class says how large it is. */
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
