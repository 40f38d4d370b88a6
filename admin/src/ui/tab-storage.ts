import { useLocalStorage } from '@mantine/hooks';

// What a tab remembers. Where its storage is full or forbidden nothing is remembered, and the pages work without.

export const readTab = <Value>(name: string): Value | null => {
  try {
    return JSON.parse(sessionStorage.getItem(name) ?? 'null');
  } catch {
    return null;
  }
};

export const writeTab = (name: string, value: unknown): void => {
  try {
    sessionStorage.setItem(name, JSON.stringify(value));
  } catch {}
};

/** Removes what the app remembers in this tab and what is meant, by its name and its text. */
export const removeFromTab = (isMeant: (name: string, text: string) => boolean): void => {
  for (const [name, text] of Object.entries(sessionStorage))
    if (name.startsWith('handback.') && isMeant(name, text)) sessionStorage.removeItem(name);
};

/** What this browser remembers, also for the tabs and days to come. */
export const useRemembered = <Value>(key: string, defaultValue: Value) =>
  useLocalStorage<Value>({ key, defaultValue, getInitialValueInEffect: false });
