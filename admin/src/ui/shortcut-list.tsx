import { Group, Kbd, Modal, Stack, Text } from '@mantine/core';
import { texts } from '../texts.ts';
import { currentShortcuts, keyLabel } from './shortcuts.ts';

const keysByLabel = (): Map<string, string[]> => {
  const keys = new Map<string, string[]>();
  for (const { key, label } of currentShortcuts()) keys.set(label, [...(keys.get(label) ?? []), key]);
  return keys;
};

export const ShortcutList = ({ onClose }: { onClose(): void }) => (
  <Modal opened onClose={onClose} title={texts.shell.keys} size="sm">
    <Stack component="ul" gap="xs" p={0} m={0} style={{ listStyle: 'none' }}>
      {[...keysByLabel()].map(([label, keys]) => (
        <Group component="li" key={label} gap={6} wrap="nowrap">
          <Text size="sm" mr="auto">
            {label}
          </Text>
          {keys.map((key) => (
            <Kbd key={key}>{keyLabel(key)}</Kbd>
          ))}
        </Group>
      ))}
    </Stack>
  </Modal>
);
