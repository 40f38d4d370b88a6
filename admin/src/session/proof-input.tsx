import { Anchor, PasswordInput } from '@mantine/core';
import type { ComponentProps } from 'react';
import { CodeInput } from './code-input.tsx';
import { useSession } from './session.ts';

export type ProofBy = 'password' | 'code';

interface Props {
  by: ProofBy;
  /** Empties both inputs as well. */
  onSwitch: (by: ProofBy) => void;
  password: ComponentProps<typeof PasswordInput>;
  code: ComponentProps<typeof CodeInput>;
  /** Whether a dialog opens with the cursor in it. */
  focused?: boolean;
}

/** The current password, or a code for people who have a second factor. */
export const ProofInput = ({ by, onSwitch, password, code, focused }: Props) => {
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
