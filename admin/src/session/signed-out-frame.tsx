import { Stack, Text, Title } from '@mantine/core';
import { useLocation } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { texts } from '../texts.ts';
import { Mark, Stripe } from '../ui/mark.tsx';
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
          <p className={styles['claim']}>{texts.session.claim}</p>
          <p className={styles['line']}>{texts.session.claimLine}</p>
          <Stripe className={styles['bars']} />
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

/** What the address has behind its `#`. It stays on the way out of the page: without it, a link that was just used would seem over. */
export const useHashToken = (): string => {
  const hash = useLocation({ select: (location) => location.hash });
  const [token, setToken] = useState(hash);
  if (hash !== '' && hash !== token) setToken(hash);
  return token;
};
