import { Tooltip } from '@mantine/core';
import type { ReactNode, RefObject } from 'react';

interface Props {
  id: string;
  target: RefObject<HTMLElement | null>;
  children: ReactNode;
}

/** Loads with the first tooltip, because the library's tooltips are large. */
export const ExactTime = ({ id, target, children }: Props) => (
  <Tooltip opened target={target} label={<span id={id}>{children}</span>} />
);
