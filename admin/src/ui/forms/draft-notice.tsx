import { Button, Group, Text } from '@mantine/core';

/** Says that a form opened with what was typed before. */
export const DraftNotice = ({ onStartOver }: { onStartOver(): void }) => (
  <Group justify="space-between" gap="sm" wrap="nowrap" role="status">
    <Text size="sm" c="dimmed">
      What you typed before is still here.
    </Text>
    <Button size="compact-xs" variant="default" onClick={onStartOver} style={{ flexShrink: 0 }}>
      Start over
    </Button>
  </Group>
);
