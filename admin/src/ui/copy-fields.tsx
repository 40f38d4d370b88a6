import { Box, Code, Group, Text, TextInput } from '@mantine/core';
import { useId } from 'react';
import { CopyButton } from './copy-button.tsx';

interface Props {
  label: string;
  description?: string;
  /** As in a sentence: "the API key". */
  what: string;
  value: string;
}

/** A value of one line with a copy button. */
export const CopyField = ({ label, description, what, value }: Props) => (
  <Group gap="xs" align="flex-end" wrap="nowrap">
    <TextInput
      flex={1}
      label={label}
      description={description}
      value={value}
      readOnly
      onFocus={(event) => event.currentTarget.select()}
      styles={{ input: { fontFamily: 'var(--mantine-font-family-monospace)' } }}
    />
    <CopyButton text={value} what={what} />
  </Group>
);

/** A longer text, such as a command, with a copy button. */
export const CopyBlock = ({ label, description, what, value }: Props) => {
  const id = useId();
  return (
    <Box role="group" aria-labelledby={id}>
      <Group gap="xs" justify="space-between" wrap="nowrap" mb={6} align="flex-end">
        <div>
          <Text size="sm" fw={500} id={id}>
            {label}
          </Text>
          {description ? (
            <Text size="xs" c="dimmed">
              {description}
            </Text>
          ) : null}
        </div>
        <CopyButton text={value} what={what} />
      </Group>
      <Code block style={{ whiteSpace: 'pre-wrap' }}>
        {value}
      </Code>
    </Box>
  );
};
