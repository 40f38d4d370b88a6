import { Badge, type BadgeProps } from '@mantine/core';
import { statusWords } from './words.ts';

export const StatusBadge = ({ status, ...rest }: { status: string } & BadgeProps) => {
  const { label, color } = statusWords(status);
  return (
    <Badge variant="light" color={color} tt="none" fw={600} style={{ flexShrink: 0 }} {...rest}>
      {label}
    </Badge>
  );
};
