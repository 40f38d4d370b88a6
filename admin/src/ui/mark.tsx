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
