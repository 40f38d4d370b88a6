import { useClickOutside } from '@mantine/hooks';
import { type KeyboardEvent, type ReactNode, useEffect, useRef } from 'react';
import styles from './toolbar.module.css';

const STOPS = 'button, input, select';

/** The arrow keys go from one control to the next, as in a menu. */
const walk = (event: KeyboardEvent<HTMLElement>): void => {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  const target = event.target as HTMLElement;
  if (!step || target.matches('[type="date"]')) return;
  const stops = [...event.currentTarget.querySelectorAll<HTMLElement>(STOPS)];
  const next = stops[stops.indexOf(target) + step];
  event.preventDefault();
  next?.focus();
};

interface Props {
  button: ReactNode;
  label: string;
  isOpen: boolean;
  onClose(): void;
  children: ReactNode;
}

/** A small panel below its button. Escape or a click beside it closes it; the focus goes back by itself. */
export const DropPanel = ({ button, label, isOpen, onClose, children }: Props) => {
  const around = useClickOutside<HTMLDivElement>(() => isOpen && onClose());
  return (
    <div ref={around} className={styles['drop']}>
      {button}
      {isOpen ? (
        <Panel label={label} onClose={onClose}>
          {children}
        </Panel>
      ) : null}
    </div>
  );
};

const Panel = ({ label, onClose, children }: Pick<Props, 'label' | 'onClose' | 'children'>) => {
  const panel = useRef<HTMLDivElement>(null);
  useEffect(() => panel.current?.querySelector<HTMLElement>(STOPS)?.focus(), []);
  return (
    <div
      ref={panel}
      role="dialog"
      aria-label={label}
      className={styles['panel']}
      onKeyDown={(event) => {
        if (event.key !== 'Escape') return walk(event);
        // The page has keys of its own.
        event.stopPropagation();
        onClose();
      }}
    >
      {children}
    </div>
  );
};

interface ChoiceProps {
  isChosen?: boolean;
  hint?: string | undefined;
  disabled?: boolean;
  onChoose(): void;
  children: ReactNode;
}

export const PanelChoice = ({ isChosen, hint, disabled, onChoose, children }: ChoiceProps) => (
  <button
    type="button"
    className={styles['choice']}
    aria-pressed={isChosen}
    disabled={disabled}
    onClick={onChoose}
  >
    <bdi>{children}</bdi>
    {hint ? <span className={styles['hint']}>{hint}</span> : null}
  </button>
);
