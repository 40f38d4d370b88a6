import { Anchor, PasswordInput, type PasswordInputProps } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { PASSWORD_LENGTH } from '../../../contract/person-fields.ts';

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
