import { Alert, Button, Group, Modal, Stack } from '@mantine/core';
import type { FormEvent, ReactNode } from 'react';

interface Props {
  title: string;
  /** The label of the submit button. */
  action: string;
  dangerous?: boolean;
  disabled?: boolean;
  busy: boolean;
  failure: Error | null;
  onSubmit: (event: FormEvent<HTMLFormElement>) => void;
  onClose: () => void;
  /** What the Cancel button does, where that is not the same as closing. */
  onCancel?: () => void;
  children: ReactNode;
}

/** A form in a dialog. A click outside does not close it, so nobody loses what they typed by accident. */
export const FormDialog = ({
  title,
  action,
  dangerous = false,
  disabled = false,
  busy,
  failure,
  onSubmit,
  onClose,
  onCancel = onClose,
  children,
}: Props) => (
  <Modal
    opened
    onClose={onClose}
    title={title}
    attributes={{ header: { role: 'none' } }}
    closeOnClickOutside={false}
    closeButtonProps={{ 'aria-label': 'Close' }}
    size="lg"
  >
    <form onSubmit={onSubmit} noValidate>
      <Stack>
        {failure ? (
          <Alert color="red" role="alert">
            {failure.message}
          </Alert>
        ) : null}
        {children}
        <Group justify="flex-end">
          <Button variant="default" onClick={onCancel}>
            Cancel
          </Button>
          <Button type="submit" loading={busy} disabled={disabled} {...(dangerous ? { color: 'red.8' } : {})}>
            {action}
          </Button>
        </Group>
      </Stack>
    </form>
  </Modal>
);
