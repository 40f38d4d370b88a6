import { Button, Group, Progress, Text } from '@mantine/core';
import { texts } from '../texts.ts';

interface Props {
  label: string;
  done: number;
  total: number;
  onStop(): void;
}

export const RunProgress = ({ label, done, total, onStop }: Props) => (
  <Group gap="xs" wrap="nowrap">
    <Progress flex={1} miw={90} value={total === 0 ? 0 : (100 * done) / total} aria-label={label} />
    <Text size="sm" className="tabular-numbers" role="status">
      {texts.common.doneOf(done, total)}
    </Text>
    <Button variant="default" size="compact-sm" onClick={onStop}>
      {texts.common.stop}
    </Button>
  </Group>
);
