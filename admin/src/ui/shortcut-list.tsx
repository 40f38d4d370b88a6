import { Group, Kbd, Modal, Stack, Text } from '@mantine/core';
import { currentShortcuts } from './shortcuts.ts';

const KEY_LABELS: Record<string, string> = { 'mod+k': 'Ctrl K', '?': '?', '/': '/' };

/** The keys that work on this page. */
export const ShortcutList = ({ onClose }: { onClose(): void }) => (
  <Modal
    opened
    onClose={onClose}
    title="Keys on this page"
    closeButtonProps={{ 'aria-label': 'Close' }}
    size="sm"
  >
    <Stack component="ul" gap="xs" p={0} m={0} style={{ listStyle: 'none' }}>
      {currentShortcuts().map(({ key, label }) => (
        <Group component="li" key={key} justify="space-between" wrap="nowrap">
          <Text size="sm">{label}</Text>
          <Kbd>{KEY_LABELS[key] ?? key.toUpperCase()}</Kbd>
        </Group>
      ))}
    </Stack>
  </Modal>
);
