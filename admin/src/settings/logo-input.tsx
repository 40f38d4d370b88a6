import { Button, FileButton, Group, Input } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import { LOGO_BYTES, LOGO_TYPES } from '../../../contract/shop-settings.ts';
import { logoFrom } from './read-logo.ts';

interface Props {
  /** A data URL, or empty. */
  value: string;
  error: ReactNode;
  onChange(logo: string): void;
}

/** The picture of the letterhead. One that is too large is made smaller. */
export const LogoInput = ({ value, error, onChange }: Props) => {
  const [failure, setFailure] = useState<string | null>(null);
  const read = async (file: File | null) => {
    if (!file) return;
    const logo = await logoFrom(file);
    setFailure(logo === null ? 'This file is damaged, or it is no picture. Choose another one.' : null);
    if (logo !== null) onChange(logo);
  };
  return (
    <Input.Wrapper
      label="Logo"
      labelElement="div"
      description={`PNG, JPEG or WebP. Larger than ${LOGO_BYTES / 1000} kB is made smaller.`}
      error={failure ?? error}
    >
      <Group mt={6} gap="sm">
        {value ? (
          <img
            src={value}
            alt="The shop’s logo"
            style={{ background: '#fff', borderRadius: 4, maxHeight: 56, maxWidth: 180, padding: 4 }}
          />
        ) : null}
        <FileButton onChange={(file) => void read(file)} accept={LOGO_TYPES.join()}>
          {(props) => (
            <Button variant="default" size="xs" {...props}>
              {value ? 'Replace the logo' : 'Choose a logo'}
            </Button>
          )}
        </FileButton>
        {value ? (
          <Button variant="subtle" size="xs" onClick={() => onChange('')}>
            Remove
          </Button>
        ) : null}
      </Group>
    </Input.Wrapper>
  );
};
