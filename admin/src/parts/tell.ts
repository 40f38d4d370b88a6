import { notifications } from '@mantine/notifications';

/** That something was done, in passing. */
export const tellDone = (message: string): void => {
  notifications.show({ message, color: 'green', closeButtonProps: { 'aria-label': 'Close' } });
};
