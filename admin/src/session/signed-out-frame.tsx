import { Stack, Text, Title } from '@mantine/core';
import { useLocation } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { Mark } from '../ui/mark.tsx';
import { useTabTitle } from '../ui/page-frame.tsx';
import styles from './signed-out-frame.module.css';

interface Props {
  tab: string;
  title: string;
  intro?: ReactNode;
  children?: ReactNode;
}

export const SignedOutFrame = ({ tab, title, intro, children }: Props) => {
  useTabTitle(tab);
  return (
    <div className={styles['frame']}>
      <header className={styles['side']}>
        <div className={styles['brand']}>
          <Mark size={28} />
          Handback
        </div>
        <div className={styles['words']}>
          <p className={styles['claim']}>Everything that comes back, in one place.</p>
          <p className={styles['line']}>
            Repairs at the counter and trade returns: scanned in, worked on, and closed.
          </p>
          <Bars />
        </div>
      </header>
      <main className={styles['main']}>
        <Stack gap="lg" className={styles['content'] ?? ''}>
          <Stack gap={6}>
            <Title order={1}>{title}</Title>
            {intro ? <Text c="dimmed">{intro}</Text> : null}
          </Stack>
          {children}
        </Stack>
      </main>
    </div>
  );
};

/** Widths of bars and spaces in turn. */
const WIDTHS = '2112 1222 1411 3112 1123 2211 1321 2113 1221 3111 2212 1132 2111 3221';

const Bars = () => {
  let at = 0;
  const bars = [...WIDTHS.replaceAll(' ', '')].map(Number).map((width, index) => {
    at += width;
    return index % 2 === 0 ? `M${at - width} 0h${width}v10h-${width}z` : '';
  });
  return (
    <svg className={styles['bars']} viewBox={`0 0 ${at} 10`} preserveAspectRatio="none" aria-hidden>
      <path d={bars.join('')} fill="currentColor" />
    </svg>
  );
};

/** What the address has behind its `#`. It stays on the way out of the page: without it, a link that was just used would seem over. */
export const useHashToken = (): string => {
  const hash = useLocation({ select: (location) => location.hash });
  const [token, setToken] = useState(hash);
  if (hash !== '' && hash !== token) setToken(hash);
  return token;
};
