import { Anchor, Button, DataList } from '@mantine/core';
import { type ReactNode, useEffect, useRef, useState } from 'react';
import { texts } from '../../texts.ts';
import { Section } from '../../ui/page-frame.tsx';
import { isErased, OrErased } from '../../ui/two-lines.tsx';
import styles from './detail.module.css';

type Fact = readonly [label: string, value: ReactNode];

interface Props {
  title: string;
  facts?: readonly Fact[];
  children?: ReactNode;
}

export const Facts = ({ title, facts = [], children }: Props) => {
  const filled = facts.filter(([, value]) => value !== null && value !== undefined && value !== '');
  if (filled.length === 0 && !children) return null;
  return (
    <Section title={title}>
      {filled.length > 0 ? (
        <DataList gap={4} labelWidth="8.5em" size="sm">
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
  /** What the return is about: it gets the most room. */
  isMain?: true;
  lead?: string;
  lines?: readonly ReactNode[];
}

export const Summary = ({ parts }: { parts: readonly SummaryPart[] }) => (
  <dl className={styles['summary']}>
    {parts.map((part) =>
      part.isMain ? <MainPart key={part.label} {...part} /> : <Part key={part.label} {...part} />,
    )}
  </dl>
);

const Part = ({ label, lead, lines = [] }: SummaryPart) => (
  <div className={styles['part']}>
    <dt>{label}</dt>
    <dd>
      {lead ? (
        <span className={styles['lead']} title={isErased(lead) ? undefined : lead} dir="auto">
          <OrErased>{lead}</OrErased>
        </span>
      ) : null}
      {lines.filter(Boolean).map((line, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a line is known by its place
        <div key={index} className={styles['line']} dir="auto">
          {line}
        </div>
      ))}
    </dd>
  </div>
);

/** Three lines of its text, and all of it at the press of a button. */
const MainPart = ({ label, lead = '' }: SummaryPart) => {
  const text = useRef<HTMLSpanElement>(null);
  const [isCut, setCut] = useState(false);
  const [open, setOpen] = useState(false);
  useEffect(() => {
    const element = text.current;
    if (!element) return;
    const observer = new ResizeObserver(() => setCut(element.scrollHeight > element.clientHeight + 1));
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  return (
    <div className={styles['part']} data-main>
      <dt>
        {label}
        {isCut || open ? (
          <Anchor
            component="button"
            type="button"
            inherit
            aria-expanded={open}
            onClick={() => setOpen(!open)}
          >
            {open ? texts.detail.showLess : texts.detail.showAll}
          </Anchor>
        ) : null}
      </dt>
      <dd>
        <span ref={text} className={styles['lead']} data-open={open || undefined} dir="auto">
          <OrErased>{lead}</OrErased>
        </span>
      </dd>
    </div>
  );
};

/** What two lines of the summary hold on a phone. */
const SHOWN = 40;

/** A text that the summary may not show whole, and which therefore stands below it too. */
export const ifCut = (text: string): string | null => (text.length > SHOWN ? text : null);

export const Code = ({ children }: { children: string }) => (
  <bdi className="code" title={children}>
    {children}
  </bdi>
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
        {open ? texts.detail.showLess : texts.detail.showAll}
      </Button>
    </>
  );
};

export const folded = (text: string | null) => text && <FoldedText>{text}</FoldedText>;

/** Nothing where it was erased: the name says so already. */
export const EmailLink = ({ address }: { address: string }) =>
  isErased(address) ? null : (
    <Anchor href={`mailto:${encodeURIComponent(address)}`} inherit title={address}>
      {address}
    </Anchor>
  );

export const PhoneLink = ({ number }: { number: string }) => (
  <Anchor href={`tel:${number.replaceAll(/[^\d+]/g, '')}`} inherit>
    {number}
  </Anchor>
);
