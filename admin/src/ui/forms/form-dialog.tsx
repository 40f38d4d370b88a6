import { Button, Group, Modal, Stack } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import type { FormEvent, ReactNode } from 'react';
import { texts } from '../../texts.ts';
import { FormFailure } from '../query-view.tsx';
import styles from './form-dialog.module.css';

interface DialogProps {
  title: string;
  action: string;
  dangerous?: boolean;
  disabled?: boolean;
  size?: 'md' | 'lg';
  zIndex?: number;
  onClose: () => void;
  children: ReactNode;
}

interface FormProps extends DialogProps {
  busy: boolean;
  failure: Error | null;
  onSubmit: (event: FormEvent<HTMLFormElement>) => void;
  /** What the Cancel button does, where that is not the same as closing. */
  onCancel?: () => void;
  /** It has no field, so that the focus begins at Cancel. */
  isQuestion?: boolean;
}

/** A form in a dialog: `<FormDialog {...useApiForm(…)}>`. A click outside does not close it, so nothing typed is lost by accident. */
export const FormDialog = ({ onClose, onCancel = onClose, size = 'lg', zIndex, ...props }: FormProps) => (
  <Modal
    opened
    onClose={onClose}
    title={props.title}
    closeOnClickOutside={false}
    size={size}
    {...(zIndex ? { zIndex } : {})}
  >
    <form onSubmit={props.onSubmit} noValidate>
      <Stack>
        <FormFailure failure={props.failure} />
        {props.children}
        <Group justify="flex-end" className={styles['actions'] ?? ''}>
          <Button variant="default" onClick={onCancel} data-autofocus={props.isQuestion}>
            {texts.common.cancel}
          </Button>
          <Button
            type="submit"
            loading={props.busy}
            disabled={props.disabled ?? false}
            {...(props.dangerous ? { color: 'red.8' } : {})}
          >
            {props.action}
          </Button>
        </Group>
      </Stack>
    </form>
  </Modal>
);

interface ConfirmProps<Result> extends DialogProps {
  send: () => Promise<Result>;
  onDone: (result: Result) => unknown;
}

/** Asks before something is done that needs no input. */
export const ConfirmDialog = <Result,>({ send, onDone, ...dialog }: ConfirmProps<Result>) => {
  const sending = useMutation({ mutationFn: send, onSuccess: onDone });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    sending.mutate();
  };
  return (
    <FormDialog
      size="md"
      {...dialog}
      isQuestion
      busy={sending.isPending}
      failure={sending.error}
      onSubmit={submit}
    />
  );
};
