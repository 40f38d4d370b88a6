import {
  ActionIcon,
  type ActionIconProps,
  Box,
  Button,
  Code,
  Group,
  Text,
  TextInput,
  VisuallyHidden,
} from '@mantine/core';
import { Check, Copy } from 'lucide-react';
import { useEffect, useId, useState } from 'react';
import { texts } from '../texts.ts';
import { notify } from './notify.ts';

/** Browsers offer the clipboard on https only; over plain http the text is copied from an input. */
const copyText = async (text: string): Promise<boolean> => {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const area = document.createElement('textarea');
    area.value = text;
    (document.querySelector('[role="dialog"]') ?? document.body).append(area);
    area.select();
    const copied = document.execCommand('copy');
    area.remove();
    return copied;
  }
};

const CHECK_MARK_MS = 2500;

interface Props extends ActionIconProps {
  text: string;
  what: string;
  /** Beside the icon, where a button needs a word. */
  label?: string;
}

export const CopyButton = ({ text, what, label, ...buttonProps }: Props) => {
  const [copied, setCopied] = useState(false);
  useEffect(() => {
    if (!copied) return;
    const timer = setTimeout(() => setCopied(false), CHECK_MARK_MS);
    return () => clearTimeout(timer);
  }, [copied]);
  const copy = async () => {
    const done = await copyText(text);
    setCopied(done);
    if (!done)
      void notify({ color: 'red', title: texts.common.copyFailed, message: texts.common.copyByHand });
  };
  const icon = copied ? <Check color="var(--mantine-color-teal-light-color)" /> : <Copy />;
  return (
    <>
      {label ? (
        <Button variant="default" leftSection={icon} onClick={copy}>
          {label}
        </Button>
      ) : (
        <ActionIcon
          variant="default"
          size="lg"
          onClick={copy}
          aria-label={texts.common.copy(what)}
          title={texts.common.copy(what)}
          {...buttonProps}
        >
          {icon}
        </ActionIcon>
      )}
      <VisuallyHidden aria-live="polite">{copied ? texts.common.copied : ''}</VisuallyHidden>
    </>
  );
};

interface CopyFieldProps {
  label: string;
  description?: string;
  /** As in a sentence: "the API key". */
  what: string;
  value: string;
}

export const CopyField = ({ label, description, what, value }: CopyFieldProps) => (
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

export const CopyBlock = ({ label, description, what, value }: CopyFieldProps) => {
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
