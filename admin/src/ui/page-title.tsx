import { Title, type TitleProps } from '@mantine/core';
import { useEffect } from 'react';

const APP = 'Handback';

/** What the browser's tab says; the next page begins with the app's own name again. */
export const useTabTitle = (title: string): void =>
  useEffect(() => {
    document.title = `${title} · ${APP}`;
    return () => {
      document.title = APP;
    };
  }, [title]);

/** The one heading of a page; the tab says the same. */
export const PageTitle = ({ children, ...rest }: { children: string } & Omit<TitleProps, 'children'>) => {
  useTabTitle(children);
  return (
    <Title order={2} {...rest}>
      {children}
    </Title>
  );
};
