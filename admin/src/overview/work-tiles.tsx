import { Card, SimpleGrid, Text } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { CircleDot, Clock, type LucideIcon, UserRound, UserRoundX } from 'lucide-react';
import type { Overview } from '../../../contract/admin.ts';
import type { ListSearch } from '../list-search.ts';
import { REPAIRS, TRADE_RETURNS } from '../returns/kinds.ts';
import styles from './overview.module.css';

type Figure = 'mine' | 'overdue' | 'unassigned' | 'open';

/** Each figure with the filters of the list that shows exactly its rows. */
const TILES: readonly { figure: Figure; label: string; icon: LucideIcon; search: ListSearch }[] = [
  { figure: 'mine', label: 'My work', icon: UserRound, search: { assignee: 'me' } },
  { figure: 'overdue', label: 'Overdue', icon: Clock, search: { overdue: true } },
  { figure: 'unassigned', label: 'Unassigned', icon: UserRoundX, search: { assignee: 'none' } },
  { figure: 'open', label: 'Open', icon: CircleDot, search: {} },
];

const KINDS = [REPAIRS, TRADE_RETURNS] as const;

/** What is to be done, of both kinds; every figure leads to its rows. */
export const WorkTiles = ({ overview }: { overview: Overview }) => (
  <SimpleGrid cols={{ base: 2, lg: 4 }}>
    {TILES.map(({ figure, label, icon: Icon, search }) => (
      <Card key={figure} withBorder padding="md" component="section" aria-label={label}>
        <Text c="dimmed" size="sm" fw={500} className={styles['label'] ?? ''}>
          <Icon size={16} aria-hidden /> {label}
        </Text>
        {KINDS.map((kind) => {
          const count = overview[kind.overview][figure];
          return (
            <Link
              key={kind.path}
              to={kind.path}
              search={search}
              className={styles['figure'] ?? ''}
              preload={false}
            >
              <span
                className={styles['number']}
                data-late={(figure === 'overdue' && count > 0) || undefined}
                data-none={count === 0 || undefined}
              >
                {count.toLocaleString()}
              </span>{' '}
              <span className={styles['noun']}>{count === 1 ? kind.one : kind.many}</span>
            </Link>
          );
        })}
      </Card>
    ))}
  </SimpleGrid>
);
