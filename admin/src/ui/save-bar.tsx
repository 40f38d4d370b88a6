import { Button, Group, Text } from '@mantine/core';
import { useBlocker } from '@tanstack/react-router';
import { texts } from '../texts.ts';
import styles from './save-bar.module.css';

const t = texts.common;

interface Props {
  isChanged: boolean;
  busy: boolean;
  /** What is not saved yet, as the question before leaving the page names it. */
  what: string;
  /** The button's word, where it is more than "Save". */
  action?: string;
  dangerous?: boolean;
  disabled?: boolean;
  /** Short forms have it in its place, so that it covers nothing. */
  isShort?: boolean;
  onDiscard: () => void;
}

/** At the foot of a form of settings, in sight wherever the page is scrolled to; only while something is changed. */
export const SaveBar = ({ isChanged, busy, what, action = t.save, ...props }: Props) => {
  useBlocker({
    shouldBlockFn: () => !window.confirm(t.leaveUnsaved(what)),
    enableBeforeUnload: isChanged,
    disabled: !isChanged,
  });
  return (
    <div
      role="status"
      className={isChanged ? styles['bar'] : undefined}
      data-short={props.isShort || undefined}
    >
      {isChanged ? (
        <>
          <Text size="sm">{t.unsaved}</Text>
          <Group gap="xs">
            <Button variant="default" onClick={props.onDiscard} disabled={busy}>
              {t.discard}
            </Button>
            <Button
              type="submit"
              loading={busy}
              disabled={props.disabled ?? false}
              {...(props.dangerous ? { color: 'red.8' } : {})}
            >
              {action}
            </Button>
          </Group>
        </>
      ) : null}
    </div>
  );
};
