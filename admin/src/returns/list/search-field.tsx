import { CloseButton, TextInput, type TextInputProps } from '@mantine/core';
import { useDebouncedCallback } from '@mantine/hooks';
import { type Ref, useEffect, useRef, useState } from 'react';
import { LENGTH } from '../../../../contract/lengths.ts';

const PAUSE_MS = 300;

interface Props extends Omit<TextInputProps, 'value' | 'onChange'> {
  label: string;
  value: string;
  onSearch(value: string): void;
  /** Enter was pressed: with what stands there, said or not. */
  onEnter?: (value: string) => void;
  inputRef?: Ref<HTMLInputElement>;
}

/** A text to search by: searched for once the typing pauses, at once with Enter. */
export const SearchField = ({ label, value, onSearch, onEnter, inputRef, ...rest }: Props) => {
  const [text, setText] = useState(value);
  const said = useRef(value);
  // The address may change by itself, by the back button for example.
  useEffect(() => {
    if (value === said.current) return;
    said.current = value;
    setText(value);
  }, [value]);
  const say = (next: string) => {
    said.current = next.trim();
    if (said.current !== value) onSearch(said.current);
  };
  const sayLater = useDebouncedCallback(say, PAUSE_MS);
  return (
    <TextInput
      ref={inputRef}
      aria-label={label}
      placeholder={label}
      maxLength={LENGTH.name}
      value={text}
      onChange={({ currentTarget }) => {
        setText(currentTarget.value);
        sayLater(currentTarget.value);
      }}
      onKeyDown={(event) => {
        if (event.key !== 'Enter') return;
        sayLater.cancel();
        say(text);
        onEnter?.(text.trim());
      }}
      rightSection={
        text ? (
          <CloseButton
            size="sm"
            aria-label={`Clear: ${label}`}
            onClick={() => {
              sayLater.cancel();
              setText('');
              say('');
            }}
          />
        ) : undefined
      }
      {...rest}
    />
  );
};
