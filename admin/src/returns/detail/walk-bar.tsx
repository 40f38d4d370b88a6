import { ActionIcon, Group, Text } from '@mantine/core';
import { ChevronDown, ChevronUp } from 'lucide-react';
import { BackToList } from '../back-link.tsx';
import type { Kind } from '../kinds.ts';
import { useWalk } from './walk.ts';

/** The way back to the list, and to its next and previous return. */
export const WalkBar = ({ kind, id }: { kind: Kind; id: string }) => {
  const { position, total, hasPrevious, hasNext, go } = useWalk(kind, id);
  return (
    <Group justify="space-between" gap="sm" mih={30} className="not-printed">
      <BackToList kind={kind} />
      {position > 0 ? (
        <Group gap={6} role="group" aria-label="The list you came from">
          <Text size="sm" c="dimmed" className="tabular-numbers" mr={4}>
            {position.toLocaleString()} of {total.toLocaleString()}
          </Text>
          <ActionIcon
            variant="default"
            aria-label={`Previous ${kind.one}`}
            title="Previous (k)"
            disabled={!hasPrevious}
            onClick={() => void go(-1)}
          >
            <ChevronUp size={16} aria-hidden />
          </ActionIcon>
          <ActionIcon
            variant="default"
            aria-label={`Next ${kind.one}`}
            title="Next (j)"
            disabled={!hasNext}
            onClick={() => void go(1)}
          >
            <ChevronDown size={16} aria-hidden />
          </ActionIcon>
        </Group>
      ) : null}
    </Group>
  );
};
