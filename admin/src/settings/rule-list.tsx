import { ActionIcon, Badge, Box, Group, Stack, Text } from '@mantine/core';
import { X } from 'lucide-react';
import { isPrefixRule } from './rule-matching.ts';

const meaningOf = (rule: string): string => {
  if (rule === '*') return 'Every SKU there is';
  return isPrefixRule(rule) ? `Every SKU that begins with ${rule.slice(0, -1)}` : 'Exactly this SKU';
};

interface Props {
  rules: readonly string[];
  added: ReadonlySet<string>;
  onRemove: (rule: string) => void;
}

export const RuleList = ({ rules, added, onRemove }: Props) => (
  <Box role="region" aria-label="Rules" tabIndex={0} mah={460} style={{ overflowY: 'auto' }}>
    <Stack component="ul" gap={0} m={0} p={0} style={{ listStyle: 'none' }}>
      {rules.map((rule) => (
        <Group
          key={rule}
          component="li"
          wrap="nowrap"
          justify="space-between"
          py={6}
          style={{ borderBottom: '1px solid var(--mantine-color-default-border)' }}
        >
          <div>
            <Group gap="xs">
              <Text ff="monospace" component="span">
                {rule}
              </Text>
              {added.has(rule) ? <Badge variant="default">Not saved yet</Badge> : null}
            </Group>
            <Text size="sm" c="dimmed">
              {meaningOf(rule)}
            </Text>
          </div>
          <ActionIcon
            variant="default"
            size="lg"
            aria-label={`Remove ${rule}`}
            onClick={() => onRemove(rule)}
          >
            <X size={16} aria-hidden />
          </ActionIcon>
        </Group>
      ))}
    </Stack>
  </Box>
);
