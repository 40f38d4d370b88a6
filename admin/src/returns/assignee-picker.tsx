import { UnstyledButton, VisuallyHidden } from '@mantine/core';
import { ChevronDown } from 'lucide-react';
import { useRef, useState } from 'react';
import { useBlocked } from '../session/blocked.tsx';
import { texts } from '../texts.ts';
import { lazyPart } from '../ui/lazy.tsx';
import styles from './assignee.module.css';
import { Assignee } from './badges.tsx';
import type { AnyReturn, Kind } from './kinds.ts';

/** With what places it, the popover is too large for the first load of a list. */
const AssignPopover = lazyPart(async () => (await import('./person-select.tsx')).AssignPopover);

/** Who works on a return, as a button that opens the choice of a person below it. */
export const AssigneePicker = ({ kind, item }: { kind: Kind; item: AnyReturn }) => {
  const button = useRef<HTMLButtonElement>(null);
  const [isOpen, setOpen] = useState(false);
  const blocked = useBlocked();
  return (
    <span className={styles['picker']}>
      <UnstyledButton
        ref={button}
        className={styles['button'] ?? ''}
        aria-haspopup="listbox"
        aria-expanded={isOpen}
        {...(blocked === null
          ? { onClick: () => setOpen(!isOpen) }
          : { 'aria-disabled': true, title: blocked })}
        onPointerEnter={AssignPopover.preload}
        onFocus={AssignPopover.preload}
      >
        <Assignee person={item.assignee ?? null} />{' '}
        {/* After what is seen, so that people who speak to their computer can say it. */}
        <VisuallyHidden>{texts.moves.assignSuffix(item.rmaNumber)}</VisuallyHidden>
        <ChevronDown size={14} className={styles['chevron'] ?? ''} />
      </UnstyledButton>
      {isOpen ? (
        <AssignPopover
          kind={kind}
          items={[item]}
          onClose={() => {
            setOpen(false);
            button.current?.focus();
          }}
        />
      ) : null}
    </span>
  );
};
