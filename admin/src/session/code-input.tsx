import { Anchor, TextInput, type TextInputProps } from '@mantine/core';
import { useRef, useState } from 'react';
import { ApiError } from '../api.ts';

const KINDS = {
  app: {
    label: 'Code from your authenticator app',
    description: 'Six digits. They change every 30 seconds.',
    input: { inputMode: 'numeric', autoComplete: 'one-time-code', placeholder: '123 456' },
    other: 'Use a recovery code instead',
  },
  recovery: {
    label: 'Recovery code',
    description: 'One of the ten you stored when you set this up. Each works once.',
    input: { inputMode: 'text', autoComplete: 'off', placeholder: 'abcd-efgh-jkmn-pqrs' },
    other: 'Use the authenticator app instead',
  },
} as const;

/** The password was right, and a code is needed as well. */
export const isCodeMissing = (error: unknown): boolean =>
  error instanceof ApiError && error.body?.code === 'SECOND_FACTOR_REQUIRED';

/** A code of the second factor, of either kind. */
export const CodeInput = ({ onClear, ...props }: TextInputProps & { onClear: () => void }) => {
  const [kind, setKind] = useState<keyof typeof KINDS>('app');
  const { label, description, input, other } = KINDS[kind];
  const field = useRef<HTMLInputElement>(null);
  return (
    <div>
      <TextInput
        label={label}
        description={description}
        required
        autoCapitalize="none"
        spellCheck={false}
        styles={{ input: { fontFamily: 'var(--mantine-font-family-monospace)' } }}
        {...input}
        {...props}
        ref={field}
      />
      <Anchor
        component="button"
        type="button"
        size="sm"
        mt={6}
        onClick={() => {
          setKind(kind === 'app' ? 'recovery' : 'app');
          onClear();
          field.current?.focus();
        }}
      >
        {other}
      </Anchor>
    </div>
  );
};
