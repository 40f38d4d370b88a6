import { Title, type TitleProps } from '@mantine/core';
import { useEffect } from 'react';

const APP = 'Handback';

/** Sets the title of the browser tab. */
export const useTabTitle = (title: string): void =>
  useEffect(() => {
    document.title = `${title} · ${APP}`;
    return () => {
      document.title = APP;
    };
  }, [title]);

/** The heading of a page, and the title of its tab. */
export const PageTitle = ({ children, ...rest }: { children: string } & Omit<TitleProps, 'children'>) => {
  useTabTitle(children);
  return (
    <Title order={2} style={{ overflowWrap: 'anywhere' }} {...rest}>
      {children}
    </Title>
  );
};
