import { Alert, Button, Group, Modal, Stack } from '@mantine/core';
import type { FormEvent, ReactNode } from 'react';

interface Props {
  title: string;
  /** What will be done, on the button that does it. */
  action: string;
  dangerous?: boolean;
  /** Not yet to be sent. */
  held?: boolean;
  busy: boolean;
  failure: Error | null;
  onSubmit: (event: FormEvent<HTMLFormElement>) => void;
  onClose: () => void;
  children: ReactNode;
}

/** A form in a dialog. A click beside it closes nothing, so what was typed is not lost by a slip of the hand. */
export const FormDialog = ({
  title,
  action,
  dangerous = false,
  held = false,
  busy,
  failure,
  onSubmit,
  onClose,
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
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          <Button type="submit" loading={busy} disabled={held} {...(dangerous ? { color: 'red.8' } : {})}>
            {action}
          </Button>
        </Group>
      </Stack>
    </form>
  </Modal>
);
