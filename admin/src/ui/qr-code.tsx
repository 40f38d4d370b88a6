import { useQuery } from '@tanstack/react-query';

/** Modules of white around the code, without which cameras do not find it. */
const QUIET = 4;

const drawn = async (text: string): Promise<{ path: string; size: number }> => {
  const { encode } = await import('uqr');
  const { data, size } = encode(text, { ecc: 'M', border: QUIET });
  const path = data.flatMap((row, y) => row.map((dark, x) => (dark ? `M${x} ${y}h1v1h-1z` : ''))).join('');
  return { path, size };
};

/** A QR code, black on white in every colour scheme. What draws it loads when it is needed. */
export const QrCode = ({ text, label, width = 192 }: { text: string; label: string; width?: number }) => {
  const { data } = useQuery({
    queryKey: ['qr-code', text],
    queryFn: () => drawn(text),
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
  });
  return (
    <svg
      role="img"
      aria-label={label}
      width={width}
      height={width}
      viewBox={`0 0 ${data?.size ?? 1} ${data?.size ?? 1}`}
      shapeRendering="crispEdges"
      style={{ background: '#fff', borderRadius: 'var(--mantine-radius-md)', flex: 'none' }}
    >
      {data ? <path d={data.path} fill="#000" /> : null}
    </svg>
  );
};
