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
