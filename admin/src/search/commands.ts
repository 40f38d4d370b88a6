import { useRouterState } from '@tanstack/react-router';
import { useEffect } from 'react';
import { KINDS, type Kind } from '../returns/kinds.ts';
import { useSession } from '../session/session.ts';
import { texts } from '../texts.ts';
import { readTab, writeTab } from '../ui/tab-storage.ts';

const { names } = texts.search;

/** A page of the app that the search leads to. */
export interface Command {
  name: keyof typeof names;
  to: string;
  search?: Record<string, string>;
}

const COMMANDS: Command[] = [
  { name: 'newRepair', to: '/offline-repairs/new' },
  { name: 'newTradeReturn', to: '/trade-returns/new' },
  { name: 'station', to: '/scan-station' },
  { name: 'today', to: '/' },
  { name: 'repairs', to: '/offline-repairs' },
  { name: 'tradeReturns', to: '/trade-returns' },
  { name: 'figures', to: '/', search: { tab: 'figures' } },
  { name: 'account', to: '/account' },
];

const FOR_ADMINS: Command[] = [
  { name: 'shop', to: '/settings/shop' },
  { name: 'clients', to: '/settings/external-api' },
  { name: 'team', to: '/settings/team' },
  { name: 'dangerousGoods', to: '/settings/dangerous-goods' },
  { name: 'targets', to: '/settings/targets' },
  { name: 'plan', to: '/settings/plan' },
  { name: 'personalData', to: '/settings/personal-data' },
  { name: 'auditLog', to: '/settings/audit-log' },
];

const FIRST = 3;

const isMeant = ({ name }: Command, words: readonly string[]): boolean => {
  const known = names[name]
    .join(' ')
    .toLowerCase()
    .split(/[\s:]+/);
  return words.every((word) => known.some((each) => each.startsWith(word)));
};

/** Whether all of its name was typed, "team" for "Settings: Team": of words that only find it, something else may be meant. */
export const isNamed = ({ name }: Command, text: string): boolean =>
  (names[name][0] ?? '').toLowerCase().replace(/^.*: /, '') === text.trim().toLowerCase();

export const useOpenReturn = (): { kind: Kind; id: string } | null => {
  const path = useRouterState({ select: ({ location }) => location.pathname });
  const kind = KINDS.find((each) => path.startsWith(`${each.path}/`));
  const id = kind && path.slice(kind.path.length + 1).split('/')[0];
  return kind && id && id !== 'new' ? { kind, id } : null;
};

export const useCommands = (text: string): Command[] => {
  const { user } = useSession();
  const open = useOpenReturn();
  const print: Command[] = open
    ? [{ name: 'print', to: '/print', search: { kind: open.kind.path.slice(1), ids: open.id } }]
    : [];
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return [...print, ...COMMANDS.slice(0, FIRST)];
  const all = [...print, ...COMMANDS, ...(user.role === 'ADMIN' ? FOR_ADMINS : [])];
  return all.filter((command) => isMeant(command, words));
};

// The returns that were opened last in this tab. Only their ids: whose they are is read when they are shown.

const RECENT = 'handback.walk.recent';
const MOST_RECENT = 6;

export interface RecentReturn {
  path: Kind['path'];
  id: string;
}

export const recentReturns = (): RecentReturn[] => readTab<RecentReturn[]>(RECENT) ?? [];

export const useRememberOpened = (): void => {
  const open = useOpenReturn();
  const [path, id] = [open?.kind.path, open?.id];
  useEffect(() => {
    if (!path || !id) return;
    const others = recentReturns().filter((each) => each.id !== id);
    writeTab(RECENT, [{ path, id }, ...others].slice(0, MOST_RECENT));
  }, [path, id]);
};
