import { Button, type ButtonProps } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { ComponentPropsWithRef, MouseEvent } from 'react';
import { overviewQuery } from '../shop-queries.ts';
import { texts } from '../texts.ts';
import { useSession } from './session.ts';

const { readOnly, limitReached } = texts.common;

/** What the shop's subscription and allowance leave to be done. The service decides; this spares people the attempt. */
export const useBlocked = (): Record<'changing' | 'creating', string | null> => {
  const { shop } = useSession();
  const { data } = useQuery(overviewQuery);
  if (shop.subscription === 'inactive') return { changing: readOnly, creating: readOnly };
  const month = data?.month;
  const isFull = month !== undefined && month.limit !== null && month.used >= month.limit;
  return { changing: null, creating: isFull ? limitReached : null };
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
