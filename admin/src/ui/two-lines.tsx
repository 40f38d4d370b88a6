import { Text } from '@mantine/core';
import { Fragment, type PointerEvent, type ReactNode } from 'react';
import { ERASED_EMAIL, ERASED_TEXT } from '../../../contract/lifecycle.ts';
import styles from './two-lines.module.css';

/** Shows the whole text of what is cut when the pointer is on it. */
const tellAll = ({ currentTarget }: PointerEvent<HTMLElement>): void => {
  const { scrollHeight, clientHeight, scrollWidth, clientWidth } = currentTarget;
  const isCut = scrollHeight > clientHeight + 1 || scrollWidth > clientWidth;
  if (isCut) currentTarget.title = currentTarget.textContent ?? '';
  else currentTarget.removeAttribute('title');
};

/** Two lines of a table cell, the second in a lighter colour; each is cut where it does not fit. */
export const TwoLines = ({ first, second }: { first: ReactNode; second?: ReactNode }) => (
  <div className={styles['lines']}>
    <div className={styles['line']} onPointerEnter={tellAll}>
      {first}
    </div>
    {second === undefined ? null : (
      <div className={`${styles['line']} ${styles['second']}`} onPointerEnter={tellAll}>
        {second}
      </div>
    )}
  </div>
);

export const SecondLine = ({ children }: { children: ReactNode }) => (
  <Text size="sm" c="dimmed" component="span" display="block" fw={400}>
    {children}
  </Text>
);

/** An email address that breaks after its signs where it does not fit, and not within a word. */
export const BreakableEmail = ({ email }: { email: string }) =>
  email.split(/(?<=[@.])/).map((part, index) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: the parts of one address never change places
    <Fragment key={index}>
      {part}
      <wbr />
    </Fragment>
  ));

export const Hint = ({ children }: { children: ReactNode }) => (
  <Text size="sm" c="dimmed">
    {children}
  </Text>
);

/** Where a cell of a table has nothing to show. */
export const Dimmed = ({ children }: { children: string }) => (
  <Text span inherit c="dimmed">
    {children}
  </Text>
);

export const isErased = (value: string | null): boolean => value === ERASED_TEXT || value === ERASED_EMAIL;

/** A text that may be erased: then it is in a lighter colour, so that it does not look like a customer's name. */
export const OrErased = ({ children }: { children: string }) =>
  isErased(children) ? <span className={styles['erased']}>{ERASED_TEXT}</span> : children;
