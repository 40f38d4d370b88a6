import { TextInput } from '@mantine/core';
import { CircleCheck, CircleX, ScanLine } from 'lucide-react';
import { type FormEvent, type ReactNode, type RefObject, useEffect, useRef, useState } from 'react';
import { LENGTH } from '../../../contract/lengths.ts';
import { texts } from '../texts.ts';
import { focusOnPage } from './focus.ts';
import styles from './scanning.module.css';
import { isKeyTaken } from './shortcuts.ts';
import { readBrowser, writeBrowser } from './tab-storage.ts';

// What pages share on which people scan: the field, what became of the last scan, and a tone for it.

interface FieldProps {
  label: string;
  description: string;
  onScan(text: string): void;
  /** For a page that leads the focus back to it. */
  field?: RefObject<HTMLInputElement | null>;
}

/** These open the search and the list of keys; Space presses the button that has the focus. */
const OTHER_KEYS = ['/', '?', ' '];

/** Leads what is typed beside all fields to this one, from the first key on: a slow scanner cannot be told from a person. */
const useKeysOfPage = (field: RefObject<HTMLInputElement | null>): void => {
  useEffect(() => {
    const lead = (event: KeyboardEvent): void => {
      const { key, ctrlKey, metaKey, altKey } = event;
      if (key.length > 1 || OTHER_KEYS.includes(key) || ctrlKey || metaKey || altKey) return;
      // The browser types the key into what has the focus after this.
      if (!isKeyTaken(event)) field.current?.focus();
    };
    document.addEventListener('keydown', lead, { capture: true });
    return () => document.removeEventListener('keydown', lead, { capture: true });
  }, [field]);
};

/** Takes what is scanned into it, and what is scanned beside it while no other text field has the focus. */
export const ScanField = ({ label, description, onScan, field: given }: FieldProps) => {
  const own = useRef<HTMLInputElement>(null);
  const input = given ?? own;
  useEffect(() => focusOnPage(input.current), [input]);
  useKeysOfPage(input);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const field = input.current;
    const text = field?.value.trim();
    if (!field || !text) return;
    field.value = '';
    onScan(text);
  };
  return (
    <form onSubmit={submit}>
      <TextInput
        ref={input}
        label={label}
        description={description}
        size="lg"
        autoComplete="off"
        maxLength={LENGTH.name}
        leftSection={<ScanLine size={22} />}
        classNames={{ input: styles['scan'] ?? '' }}
      />
    </form>
  );
};

export interface ScanOutcome {
  /** What was scanned, or found by it. */
  text: string;
  isDone: boolean;
  message: string;
}

interface LastProps {
  last: ScanOutcome | null;
  /** Counts the scans: each slides in. */
  turn?: number;
  /** Before the first scan. */
  ready?: string;
  details?: ReactNode;
  children?: ReactNode;
}

/** What became of the last scan, large enough to be read from the other side of the counter, and read aloud. */
export const LastScan = ({ last, turn, ready = texts.station.ready, details, children }: LastProps) => (
  <div className={styles['last']} data-state={last === null ? 'none' : last.isDone ? 'done' : 'failed'}>
    {last ? last.isDone ? <CircleCheck size={40} /> : <CircleX size={40} /> : null}
    <div className={styles['words']} role="status" aria-live="assertive" aria-atomic>
      {last === null ? (
        ready
      ) : (
        <div key={turn} className={styles['slides']}>
          <strong>
            <bdi>{last.text}</bdi>
          </strong>{' '}
          <span>{last.message}</span>
          {details}
        </div>
      )}
    </div>
    {children ? <div className={styles['actions']}>{children}</div> : null}
  </div>
);

// A tone for each scan, for people who look at the goods and not at the screen.

const REMEMBERED = 'handback.station-sound';
const TONES = { done: { hertz: 880, seconds: 0.12 }, failed: { hertz: 196, seconds: 0.45 } } as const;
const QUIET = 0.15;

let audio: AudioContext | null = null;

const play = (tone: keyof typeof TONES): void => {
  audio ??= new AudioContext();
  const { hertz, seconds } = TONES[tone];
  const oscillator = new OscillatorNode(audio, {
    frequency: hertz,
    type: tone === 'done' ? 'sine' : 'square',
  });
  const gain = new GainNode(audio, { gain: QUIET });
  oscillator.connect(gain).connect(audio.destination);
  oscillator.start();
  oscillator.stop(audio.currentTime + seconds);
};

/** Off unless it was turned on at this computer. */
export const useSound = () => {
  const [isOn, setOn] = useState(() => readBrowser(REMEMBERED) === 'on');
  return {
    isOn,
    turn: (on: boolean) => {
      writeBrowser(REMEMBERED, on ? 'on' : 'off');
      setOn(on);
      if (on) play('done');
    },
    play: (tone: keyof typeof TONES) => {
      if (isOn) play(tone);
    },
  };
};
