import '@mantine/core/styles/Notification.css';
import '@mantine/notifications/styles.css';
import { Notifications, notifications } from '@mantine/notifications';

/** Notifications appear at the bottom: at the top they would cover the buttons of a page and the cross of a dialog. */
export const NotificationArea = () => <Notifications position="bottom-center" />;

export const { show } = notifications;
