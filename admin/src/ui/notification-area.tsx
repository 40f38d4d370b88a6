import '@mantine/core/styles/Notification.css';
import '@mantine/notifications/styles.css';
import { Button, Group } from '@mantine/core';
import { Notifications, notifications } from '@mantine/notifications';
import { texts } from '../texts.ts';
import styles from './notification-area.module.css';

export interface Toast {
  message: string;
  title?: string;
  color?: string;
  /** Buttons in the toast; it closes when one is pressed. */
  actions?: readonly { label: string; run(): unknown }[];
}

/** At the bottom left of the page, where no page and no dialog has its buttons. */
export const NotificationArea = () => (
  <Notifications className={styles['area'] ?? ''} position="bottom-left" containerWidth={400} limit={3} />
);

const AUTO_CLOSE_MS = 4_000;
/** Long enough to read what was done and to reach its button. */
const WITH_ACTIONS_MS = 10_000;

export const showToast = ({ message, actions = [], ...rest }: Toast): void => {
  const id = crypto.randomUUID?.() ?? String(Math.random());
  const buttons = actions.map(({ label, run }) => (
    <Button
      key={label}
      size="compact-sm"
      variant="default"
      onClick={() => {
        notifications.hide(id);
        run();
      }}
    >
      {label}
    </Button>
  ));
  notifications.show({
    id,
    color: 'teal',
    withBorder: true,
    autoClose: buttons.length > 0 ? WITH_ACTIONS_MS : AUTO_CLOSE_MS,
    closeButtonProps: { 'aria-label': texts.common.close },
    message: (
      <div className={styles['toast']}>
        <span>{message}</span>
        {buttons.length > 0 ? (
          <Group gap={6} wrap="nowrap">
            {buttons}
          </Group>
        ) : null}
      </div>
    ),
    ...rest,
  });
};

export const clearToasts = (): void => {
  notifications.clean();
};
