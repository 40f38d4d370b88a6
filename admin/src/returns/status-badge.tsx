import { Badge, type BadgeProps } from '@mantine/core';
import { describeStatus } from './labels.ts';

export const StatusBadge = ({ status, ...rest }: { status: string } & BadgeProps) => {
  const { label, color } = describeStatus(status);
  return (
    <Badge variant="light" color={color} {...rest}>
      {label}
    </Badge>
  );
};
