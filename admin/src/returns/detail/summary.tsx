import type { LucideIcon } from 'lucide-react';
import type { ReactNode } from 'react';
import styles from './detail.module.css';

export interface SummaryPart {
  label: string;
  icon: LucideIcon;
  children: ReactNode;
}

/** The first look at a return: who, what, where, whose. */
export const Summary = ({ parts }: { parts: readonly SummaryPart[] }) => (
  <dl className={styles['summary']}>
    {parts.map(({ label, icon: Icon, children }) => (
      <div key={label} className={styles['part']}>
        <dt>
          <Icon size={14} aria-hidden />
          {label}
        </dt>
        <dd>{children}</dd>
      </div>
    ))}
  </dl>
);

/** The most important words of a part. */
export const Lead = ({ children }: { children: string }) => (
  <span className={styles['lead']} title={children} dir="auto">
    {children}
  </span>
);

/** A further line of a part; nothing where it is empty. */
export const Line = ({ children, quiet = false }: { children: ReactNode; quiet?: boolean }) =>
  children ? (
    <div className={quiet ? styles['quiet'] : undefined} dir="auto">
      {children}
    </div>
  ) : null;
