import { CloseButton, TextInput, type TextInputProps } from '@mantine/core';
import { useDebouncedCallback } from '@mantine/hooks';
import { useEffect, useRef, useState } from 'react';
import { LENGTH } from '../../../../contract/lengths.ts';

const PAUSE_MS = 300;

interface Props extends Omit<TextInputProps, 'value' | 'onChange'> {
  label: string;
  value: string;
  onSearch(value: string): void;
  onEnter?: (value: string) => void;
  /** The label stands above, not only inside. */
  withLabel?: boolean;
}

export const SearchField = ({ label, value, onSearch, onEnter, withLabel = false, ...rest }: Props) => {
  const [text, setText] = useState(value);
  const searched = useRef(value);
  // The address may change without typing, by the back button for example.
  useEffect(() => {
    if (value === searched.current) return;
    searched.current = value;
    setText(value);
  }, [value]);
  const search = (next: string) => {
    searched.current = next.trim();
    if (searched.current !== value) onSearch(searched.current);
  };
  const searchLater = useDebouncedCallback(search, PAUSE_MS);
  return (
    <TextInput
      {...(withLabel ? { label } : { 'aria-label': label, placeholder: label })}
      maxLength={LENGTH.name}
      value={text}
      onChange={({ currentTarget }) => {
        setText(currentTarget.value);
        searchLater(currentTarget.value);
      }}
      onKeyDown={(event) => {
        if (event.key !== 'Enter') return;
        searchLater.cancel();
        search(text);
        onEnter?.(text.trim());
      }}
      rightSection={
        text ? (
          <CloseButton
            size="sm"
            aria-label={`Clear: ${label}`}
            onClick={() => {
              searchLater.cancel();
              setText('');
              search('');
            }}
          />
        ) : undefined
      }
      {...rest}
    />
  );
};
