/** The sign of Handback: something goes round and comes back. */
export const Mark = ({ size = 24 }: { size?: number }) => (
  <svg width={size} height={size} viewBox="0 0 24 24" aria-hidden style={{ flex: 'none' }}>
    <rect width="24" height="24" rx="6.5" fill="var(--mark-ground, #4151bf)" />
    <path
      d="M6.6 9.2h7.2a4 4 0 0 1 0 8H9.2M9.9 5.6 6.3 9.2l3.6 3.6"
      fill="none"
      stroke="var(--mark-line, #fff)"
      strokeWidth="2.1"
      strokeLinecap="round"
      strokeLinejoin="round"
    />
  </svg>
);

/** HANDBACK in Code 128, as on a slip: the widths of bars and spaces in turn, 123 modules together. */
const WIDTHS = [...'2112142311131113231133211123131311231113231313211123311223122331112'].map(Number);

/** Bars of these widths, with spaces between them, as the path of a drawing; and where the last one ends. */
export const barsOf = (widths: readonly number[], height = 1, from = 0): { path: string; end: number } => {
  let end = from;
  const bars = widths.map((width, index) => {
    end += width;
    return index % 2 === 0 ? `M${end - width} 0h${width}v${height}h-${width}z` : '';
  });
  return { path: bars.join(''), end };
};

interface StripeProps {
  className?: string | undefined;
  widths?: readonly number[];
}

/** A bar code as an ornament, in the colour of the text around it; as large as its class says. */
export const Stripe = ({ className, widths = WIDTHS }: StripeProps) => {
  const { path, end } = barsOf(widths);
  return (
    <svg className={className} viewBox={`0 0 ${end} 1`} preserveAspectRatio="none" aria-hidden>
      <path d={path} fill="currentColor" shapeRendering="crispEdges" />
    </svg>
  );
};
