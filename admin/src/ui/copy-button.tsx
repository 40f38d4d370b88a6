import { ActionIcon, type ActionIconProps, VisuallyHidden } from '@mantine/core';
import { Check, Copy } from 'lucide-react';
import { useEffect, useState } from 'react';
import { notify } from './notify.ts';

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

const SHOWN_MS = 2500;

interface Props extends ActionIconProps {
  text: string;
  /** In the middle of a sentence: "the API key". */
  what: string;
}

/** Takes a text along, and says so. */
export const CopyButton = ({ text, what, ...looks }: Props) => {
  const [copied, setCopied] = useState(false);
  useEffect(() => {
    if (!copied) return;
    const timer = setTimeout(() => setCopied(false), SHOWN_MS);
    return () => clearTimeout(timer);
  }, [copied]);
  const copy = async () => {
    const done = await copyText(text);
    setCopied(done);
    if (!done)
      void notify({ color: 'red', title: 'Copying failed', message: 'Select the text and copy it by hand.' });
  };
  return (
    <>
      <ActionIcon
        variant="default"
        size="lg"
        onClick={copy}
        aria-label={`Copy ${what}`}
        title={`Copy ${what}`}
        {...looks}
      >
        {copied ? (
          <Check size={16} aria-hidden color="var(--mantine-color-teal-light-color)" />
        ) : (
          <Copy size={16} aria-hidden />
        )}
      </ActionIcon>
      <VisuallyHidden aria-live="polite">{copied ? 'Copied' : ''}</VisuallyHidden>
    </>
  );
};
