import { Button } from '@mantine/core';
import { ChevronDown } from 'lucide-react';
import { type KeyboardEvent, type ReactNode, useEffect, useId, useRef, useState } from 'react';
import styles from './menu-button.module.css';

export interface MenuLine {
  label: string;
  icon?: ReactNode;
  dangerous?: boolean;
  /** Why it cannot be done; null where it can. */
  blocked?: string | null;
  run(): void;
}

interface Props {
  label: string;
  /** Groups of lines, with a rule between them. */
  groups: readonly (readonly MenuLine[])[];
}

/** Where an arrow key leads from a line. */
const STEPS: Record<string, (at: number, count: number) => number> = {
  ArrowDown: (at, count) => (at + 1) % count,
  ArrowUp: (at, count) => (at - 1 + count) % count,
  Home: () => 0,
  End: (_at, count) => count - 1,
};

/** A button that opens a menu. The library's own, with its positioning, is larger than a page. */
export const MenuButton = ({ label, groups }: Props) => {
  const [open, setOpen] = useState(false);
  const frame = useRef<HTMLDivElement>(null);
  const button = useRef<HTMLButtonElement>(null);
  const id = useId();
  const lines = () => [...(frame.current?.querySelectorAll<HTMLElement>('[role="menuitem"]') ?? [])];
  const close = () => {
    setOpen(false);
    button.current?.focus();
  };
  useEffect(() => {
    if (!open) return;
    const onPointer = ({ target }: PointerEvent) => {
      if (target instanceof Node && !frame.current?.contains(target)) setOpen(false);
    };
    document.addEventListener('pointerdown', onPointer);
    frame.current?.querySelector<HTMLElement>('[role="menuitem"]')?.focus();
    return () => document.removeEventListener('pointerdown', onPointer);
  }, [open]);
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'Escape') return close();
    if (event.key === 'Tab') return setOpen(false);
    const step = STEPS[event.key];
    const all = lines();
    if (!step || all.length === 0) return;
    event.preventDefault();
    all[step(all.indexOf(document.activeElement as HTMLElement), all.length)]?.focus();
  };
  return (
    <div ref={frame} className={styles['frame']}>
      <Button
        ref={button}
        variant="default"
        rightSection={<ChevronDown size={16} aria-hidden />}
        aria-haspopup="menu"
        aria-expanded={open}
        aria-controls={open ? id : undefined}
        onClick={() => setOpen(!open)}
        onKeyDown={({ key }) => {
          if (key === 'ArrowDown') setOpen(true);
        }}
      >
        {label}
      </Button>
      {open ? (
        <div
          id={id}
          role="menu"
          aria-label={label}
          tabIndex={-1}
          className={styles['dropdown']}
          onKeyDown={onKeyDown}
        >
          {groups.map((group) => (
            <div key={group[0]?.label ?? ''} role="none" className={styles['group']}>
              {group.map(({ label: line, icon, dangerous, blocked = null, run }) => (
                <button
                  key={line}
                  type="button"
                  role="menuitem"
                  tabIndex={-1}
                  className={styles['line']}
                  data-dangerous={dangerous || undefined}
                  aria-disabled={blocked === null ? undefined : true}
                  title={blocked ?? undefined}
                  onClick={() => {
                    if (blocked !== null) return;
                    close();
                    run();
                  }}
                >
                  {icon}
                  {line}
                </button>
              ))}
            </div>
          ))}
        </div>
      ) : null}
    </div>
  );
};
