import '@mantine/core/styles/Notification.css';
import '@mantine/notifications/styles.css';
import { Notifications, notifications } from '@mantine/notifications';

/** The corner of the screen in which notifications appear. */
export const NotificationArea = () => <Notifications position="top-right" />;

export const { show } = notifications;
