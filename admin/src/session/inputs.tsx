import {
  Anchor,
  PasswordInput,
  type PasswordInputProps,
  TextInput,
  type TextInputProps,
} from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { type ComponentProps, useRef, useState } from 'react';
import { PASSWORD_LENGTH } from '../../../contract/person-fields.ts';
import { ApiError } from '../api.ts';
import { useSession } from './session.ts';

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

/** Without letters and digits that look alike. */
const ALPHABET = 'abcdefghijkmnopqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789';
const LENGTH = 16;

const randomPassword = (): string => {
  // The largest multiple of the alphabet's size up to 256. Higher bytes would make its first letters more likely.
  const limit = 256 - (256 % ALPHABET.length);
  let password = '';
  while (password.length < LENGTH)
    for (const byte of crypto.getRandomValues(new Uint8Array(LENGTH)))
      if (byte < limit && password.length < LENGTH) password += ALPHABET[byte % ALPHABET.length];
  return password;
};

interface Props extends PasswordInputProps {
  onSuggest: (password: string) => void;
}

/** A new password, typed or suggested. */
export const NewPasswordInput = ({ onSuggest, ...input }: Props) => {
  const [visible, { toggle, open }] = useDisclosure();
  return (
    <div>
      <PasswordInput
        description={`At least ${PASSWORD_LENGTH.least} characters.`}
        autoComplete="new-password"
        required
        visible={visible}
        onVisibilityChange={toggle}
        visibilityToggleButtonProps={{ 'aria-label': 'Show the password', 'aria-pressed': visible }}
        {...input}
      />
      <Anchor
        component="button"
        type="button"
        size="sm"
        mt={6}
        onClick={() => {
          onSuggest(randomPassword());
          open();
        }}
      >
        Suggest a strong one
      </Anchor>
    </div>
  );
};

export type ProofBy = 'password' | 'code';

interface ProofInputProps {
  by: ProofBy;
  /** Empties both inputs as well. */
  onSwitch: (by: ProofBy) => void;
  password: ComponentProps<typeof PasswordInput>;
  code: ComponentProps<typeof CodeInput>;
  /** Whether a dialog opens with the cursor in it. */
  focused?: boolean;
}

/** The current password, or a code for people who have a second factor. */
export const ProofInput = ({ by, onSwitch, password, code, focused }: ProofInputProps) => {
  const { user } = useSession();
  return (
    <>
      {/* Tells a password manager whose password this is. */}
      <input type="text" autoComplete="username" value={user.email} readOnly hidden />
      {by === 'password' ? (
        <PasswordInput
          label="Current password"
          autoComplete="current-password"
          required
          data-autofocus={focused}
          visibilityToggleButtonProps={{ 'aria-label': 'Show the current password' }}
          {...password}
        />
      ) : (
        <CodeInput {...code} />
      )}
      {user.secondFactor ? (
        <Anchor
          component="button"
          type="button"
          size="sm"
          style={{ alignSelf: 'flex-start' }}
          onClick={() => onSwitch(by === 'password' ? 'code' : 'password')}
        >
          {by === 'password' ? 'Use a code instead of the password' : 'Use the password instead of a code'}
        </Anchor>
      ) : null}
    </>
  );
};
