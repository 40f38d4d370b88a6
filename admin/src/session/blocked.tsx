import { Button, type ButtonProps } from '@mantine/core';
import type { ComponentPropsWithRef, MouseEvent } from 'react';
import { texts } from '../texts.ts';
import { useSession } from './session.ts';

/** Why nothing can be changed, or null. The service decides; this spares people the attempt. */
export const useBlocked = (): string | null => {
  const { shop } = useSession();
  return shop.subscription === 'inactive' ? texts.common.readOnly : null;
};

type Props = ButtonProps &
  Omit<ComponentPropsWithRef<'button'>, keyof ButtonProps | 'color'> & {
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
