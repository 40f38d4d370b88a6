import { texts } from '../texts.ts';

const t = texts.clients;

/** `offline_repair.items_received` as people read it where its kind is known: "Items counted". */
export const eventLabel = (event: string): string => {
  const kind = event.replace(/^.*\./, '');
  return t.eventNames[kind] ?? kind.charAt(0).toUpperCase() + kind.slice(1).replaceAll('_', ' ');
};

/** "Repairs: Items counted". */
export const fullEventLabel = (event: string): string => {
  const [prefix = ''] = event.split('.');
  const group = (t.eventGroups as Record<string, string>)[prefix];
  return group === undefined ? eventLabel(event) : t.eventOf(group, eventLabel(event));
};
