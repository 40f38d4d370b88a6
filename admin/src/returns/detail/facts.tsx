import { Anchor, Button, DataList } from '@mantine/core';
import type { LucideIcon } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import { Section } from '../../ui/page-frame.tsx';
import { isErased, OrErased } from '../../ui/two-lines.tsx';
import styles from './detail.module.css';

type Fact = readonly [label: string, value: ReactNode];

interface Props {
  title: string;
  facts: readonly Fact[];
  children?: ReactNode;
}

export const Facts = ({ title, facts, children }: Props) => {
  const filled = facts.filter(([, value]) => value !== null && value !== undefined && value !== '');
  if (filled.length === 0 && !children) return null;
  return (
    <Section title={title}>
      {filled.length > 0 ? (
        <DataList gap={6} labelWidth="8.5em">
          {filled.map(([label, value]) => (
            <DataList.Item key={label}>
              <DataList.ItemLabel>{label}</DataList.ItemLabel>
              <DataList.ItemValue style={{ whiteSpace: 'pre-wrap', minWidth: 0 }}>{value}</DataList.ItemValue>
            </DataList.Item>
          ))}
        </DataList>
      ) : null}
      {children}
    </Section>
  );
};

export interface SummaryPart {
  label: string;
  icon: LucideIcon;
  lead?: string;
  lines?: readonly ReactNode[];
}

export const Summary = ({ parts }: { parts: readonly SummaryPart[] }) => (
  <dl className={styles['summary']}>
    {parts.map(({ label, icon: Icon, lead, lines = [] }) => (
      <div key={label} className={styles['part']}>
        <dt>
          <Icon size={14} aria-hidden />
          {label}
        </dt>
        <dd>
          {lead ? <Lead>{lead}</Lead> : null}
          {lines.filter(Boolean).map((line, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: a line is known by its place
            <div key={index} dir="auto">
              {line}
            </div>
          ))}
        </dd>
      </div>
    ))}
  </dl>
);

export const Lead = ({ children }: { children: string }) => (
  <span className={styles['lead']} title={isErased(children) ? undefined : children} dir="auto">
    <OrErased>{children}</OrErased>
  </span>
);

export const Quiet = ({ children }: { children: string }) => (
  <span className={styles['quiet']}>{children}</span>
);

const LONG_CHARACTERS = 400;
const LONG_LINES = 6;
const isLong = (text: string): boolean =>
  text.length > LONG_CHARACTERS || text.split('\n').length > LONG_LINES;

export const FoldedText = ({ children }: { children: string }) => {
  const [open, setOpen] = useState(false);
  if (!isLong(children))
    return (
      <span dir="auto">
        <OrErased>{children}</OrErased>
      </span>
    );
  return (
    <>
      <span className={open ? undefined : styles['folded']} dir="auto">
        {children}
      </span>
      <Button
        variant="subtle"
        size="compact-xs"
        mt={4}
        ml={-6}
        aria-expanded={open}
        onClick={() => setOpen(!open)}
      >
        {open ? 'Show less' : 'Show all'}
      </Button>
    </>
  );
};

/** Nothing where it was erased: the name says so already. */
export const EmailLink = ({ address }: { address: string }) =>
  isErased(address) ? null : (
    <Anchor href={`mailto:${encodeURIComponent(address)}`} inherit>
      {address}
    </Anchor>
  );

export const PhoneLink = ({ number }: { number: string }) => (
  <Anchor href={`tel:${number.replaceAll(/[^\d+]/g, '')}`} inherit>
    {number}
  </Anchor>
);
