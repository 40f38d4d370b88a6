import { Button, type ButtonProps } from '@mantine/core';
import type { ComponentPropsWithRef, MouseEvent } from 'react';

type Props = ButtonProps &
  Omit<ComponentPropsWithRef<'button'>, keyof ButtonProps | 'color'> & {
    /** Why it cannot be pressed; null where it can. */
    blocked: string | null;
  };

const doNothing = (event: MouseEvent) => event.preventDefault();

/** A button that says why it does not work. It keeps its place in the order of the keyboard, so that everyone can read it. */
export const BlockableButton = ({ blocked, ...props }: Props) =>
  blocked === null ? (
    <Button {...props} />
  ) : (
    <Button {...props} data-disabled aria-disabled title={blocked} onClick={doNothing} />
  );
