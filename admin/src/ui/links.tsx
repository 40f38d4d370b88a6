import { Anchor, type AnchorProps, Button, type ButtonProps } from '@mantine/core';
import { createLink } from '@tanstack/react-router';
import type { ComponentPropsWithRef } from 'react';

// Links that look like Mantine's, and whose addresses the router's types check.

type Native = Omit<ComponentPropsWithRef<'a'>, keyof AnchorProps | keyof ButtonProps | 'color'>;

export const TextLink = createLink((props: AnchorProps & Native) => <Anchor {...props} />);
export const ButtonLink = createLink((props: ButtonProps & Native) => <Button component="a" {...props} />);

export const TextButton = (props: AnchorProps & Omit<ComponentPropsWithRef<'button'>, keyof AnchorProps>) => (
  <Anchor component="button" type="button" size="sm" {...props} />
);
