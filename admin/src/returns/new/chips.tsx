import { type KeyboardEvent, type ReactNode, useId } from 'react';
import styles from './intake.module.css';

interface ChoiceProps {
  label: string;
  choices: readonly { value: string; label: string; title?: string }[];
  value?: string | null;
  error?: ReactNode;
  /** `byPointer`: not with the arrow keys, which choose on their way. */
  onChange(value: string, byPointer: boolean): void;
}

/** One of a few, all in sight: the arrow keys choose. */
export const ChoiceChips = ({ label, choices, value, error, onChange }: ChoiceProps) => {
  const id = useId();
  return (
    <fieldset className={styles['choices']} aria-describedby={error ? `${id}-error` : undefined}>
      <legend>{label}</legend>
      <div className={styles['chips']}>
        {choices.map((choice) => (
          <label key={choice.value} className={styles['chip']} title={choice.title}>
            <input
              type="radio"
              name={id}
              checked={choice.value === value}
              onChange={({ nativeEvent }) =>
                onChange(choice.value, nativeEvent instanceof MouseEvent && nativeEvent.detail > 0)
              }
            />
            {choice.label}
          </label>
        ))}
      </div>
      {error ? (
        <p id={`${id}-error`} className={styles['wrong']}>
          {error}
        </p>
      ) : null}
    </fieldset>
  );
};

/** From chip to chip with the arrow keys, and over the end to where they came from. */
const walk = (event: KeyboardEvent<HTMLElement>, onLeave?: () => void) => {
  const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
  if (!step) return;
  const chips = [...event.currentTarget.querySelectorAll('button')];
  const next = chips[chips.indexOf(document.activeElement as HTMLButtonElement) + step];
  event.preventDefault();
  if (next) next.focus();
  else if (step < 0) onLeave?.();
};

interface SuggestionsProps {
  label: string;
  hint?: string;
  items: readonly { key: string; label: string; detail?: string | undefined }[];
  onPick(index: number): void;
  onLeave?: () => void;
}

/** What is likely meant, to be picked instead of typed. */
export const Suggestions = ({ label, hint, items, onPick, onLeave }: SuggestionsProps) => {
  if (items.length === 0) return null;
  return (
    <fieldset className={styles['choices']}>
      <legend className={styles['quiet']}>
        {label}
        {hint ? <span aria-hidden> · {hint}</span> : null}
      </legend>
      {/* biome-ignore lint/a11y/noStaticElementInteractions: the chips in it have the keys */}
      <div className={styles['chips']} onKeyDown={(event) => walk(event, onLeave)} data-suggestions>
        {items.map((item, index) => (
          <button
            key={item.key}
            type="button"
            className={styles['chip']}
            onClick={() => onPick(index)}
            dir="auto"
          >
            <span title={item.label}>{item.label}</span>
            {item.detail ? <small>{item.detail}</small> : null}
          </button>
        ))}
      </div>
    </fieldset>
  );
};
