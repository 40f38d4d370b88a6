import { PasswordInput, type PasswordInputProps } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { PASSWORD_LENGTH } from '../../../contract/person-fields.ts';
import { texts } from '../texts.ts';
import { TextButton } from '../ui/links.tsx';
import type { FormInput } from './credentials.tsx';

const t = texts.session;

// By itself: the sign-in page does without the schemas of the contract, 28 kB.

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

export const NewPasswordInput = ({ onChange, ...input }: FormInput<PasswordInputProps>) => {
  const [visible, { toggle, open }] = useDisclosure();
  const suggest = () => {
    onChange(randomPassword());
    open();
  };
  return (
    <div>
      <PasswordInput
        description={t.passwordLength(PASSWORD_LENGTH.least)}
        autoComplete="new-password"
        required
        visible={visible}
        onVisibilityChange={toggle}
        visibilityToggleButtonProps={{ 'aria-label': t.showPassword, 'aria-pressed': visible }}
        {...input}
        onChange={({ currentTarget }) => onChange(currentTarget.value)}
      />
      <TextButton mt={6} onClick={suggest}>
        {t.suggestPassword}
      </TextButton>
    </div>
  );
};
