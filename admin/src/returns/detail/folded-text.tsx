import { Button } from '@mantine/core';
import { useState } from 'react';
import styles from './detail.module.css';

const LONG_CHARACTERS = 400;
const LONG_LINES = 6;
const isLong = (text: string): boolean =>
  text.length > LONG_CHARACTERS || text.split('\n').length > LONG_LINES;

/** A text whose end is one click away where it is long. */
export const FoldedText = ({ children }: { children: string }) => {
  const [open, setOpen] = useState(false);
  if (!isLong(children)) return <span dir="auto">{children}</span>;
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
