import { useState } from 'react';
import styles from './shell.module.css';

/** The first row of a list, whether it is a table or cards. */
const FIRST_ROW = 'main :is(tbody, ul) a[href]';

const focusOn = (element: HTMLElement | null | undefined): void => {
  element?.focus();
  element?.scrollIntoView({ block: 'nearest' });
};

/** The first things that the keyboard reaches: past the menu, and past the filters of a list. */
export const SkipLinks = () => {
  const [hasRows, setHasRows] = useState(false);
  const look = () => setHasRows(document.querySelector(FIRST_ROW) !== null);
  return (
    <div className={styles['skip-links']}>
      <button type="button" onFocus={look} onClick={() => focusOn(document.querySelector('main'))}>
        Skip to the page
      </button>
      {hasRows ? (
        <button type="button" onClick={() => focusOn(document.querySelector<HTMLElement>(FIRST_ROW))}>
          Skip to the list
        </button>
      ) : null}
    </div>
  );
};
