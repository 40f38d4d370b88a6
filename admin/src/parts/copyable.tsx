import { ActionIcon, Box, Code, Group, Text, TextInput, Tooltip, VisuallyHidden } from '@mantine/core';
import { Check, Copy } from 'lucide-react';
import { useEffect, useId, useState } from 'react';

/** Copies also where the page came over plain http, which browsers trust with less. */
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

const SAYS = { no: '', yes: 'Copied', failed: 'Copying failed: select the text and copy it' } as const;

const CopyIcon = ({ text, what }: { text: string; what: string }) => {
  const [copied, setCopied] = useState<keyof typeof SAYS>('no');
  useEffect(() => {
    if (copied === 'no') return;
    const timer = setTimeout(() => setCopied('no'), 2500);
    return () => clearTimeout(timer);
  }, [copied]);
  const copy = async () => setCopied((await copyText(text)) ? 'yes' : 'failed');
  return (
    <>
      <Tooltip label={SAYS[copied] || `Copy ${what}`} opened={copied === 'no' ? undefined : true}>
        <ActionIcon variant="default" size="lg" onClick={copy} aria-label={`Copy ${what}`}>
          {copied === 'yes' ? <Check size={16} aria-hidden /> : <Copy size={16} aria-hidden />}
        </ActionIcon>
      </Tooltip>
      <VisuallyHidden aria-live="polite">{SAYS[copied]}</VisuallyHidden>
    </>
  );
};

interface Props {
  label: string;
  description?: string;
  /** In the middle of a sentence: "the API key". */
  what: string;
  value: string;
}

/** One line to take along. */
export const CopyLine = ({ label, description, what, value }: Props) => (
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
    <CopyIcon text={value} what={what} />
  </Group>
);

/** A command to take along, however long it is. */
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
        <CopyIcon text={value} what={what} />
      </Group>
      <Code block style={{ whiteSpace: 'pre-wrap' }}>
        {value}
      </Code>
    </Box>
  );
};
