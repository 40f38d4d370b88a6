import encode from 'qr';

/** Scanners need this much white around it, in modules. */
const QUIET_ZONE = 2;

/** A QR code, for telephones and two-dimensional scanners. */
export const QrCode = ({ text, className }: { text: string; className?: string | undefined }) => {
  const rows = encode(text, 'raw', { ecc: 'medium', border: QUIET_ZONE });
  const path = rows
    .flatMap((row, y) => row.flatMap((isDark, x) => (isDark ? `M${x} ${y}h1v1h-1z` : [])))
    .join('');
  return (
    <svg
      viewBox={`0 0 ${rows.length} ${rows.length}`}
      role="img"
      aria-label={`QR code of ${text}`}
      shapeRendering="crispEdges"
      className={className}
    >
      <path d={path} fill="#000" />
    </svg>
  );
};
