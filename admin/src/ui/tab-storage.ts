import { useLocalStorage } from '@mantine/hooks';

// What a tab remembers, and what the browser does. Where their storage is full or forbidden nothing is remembered, and the pages work
// without: every access is here.

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

const namesIn = (): string[] => {
  try {
    return Object.keys(sessionStorage);
  } catch {
    return [];
  }
};

export const forgetInTab = (name: string): void => {
  try {
    sessionStorage.removeItem(name);
  } catch {}
};

/** Removes what the app remembers in this tab and what is meant, by its name and its text. */
export const removeFromTab = (isMeant: (name: string, text: string) => boolean): void => {
  for (const name of namesIn())
    if (name.startsWith('handback.') && isMeant(name, sessionStorage.getItem(name) ?? '')) forgetInTab(name);
};

/** A text that this browser keeps; undefined where it may not, and null where there is none. */
export const readBrowser = (name: string): string | null | undefined => {
  try {
    return localStorage.getItem(name);
  } catch {
    return undefined;
  }
};

export const writeBrowser = (name: string, text: string | null): void => {
  try {
    if (text === null) localStorage.removeItem(name);
    else localStorage.setItem(name, text);
  } catch {}
};

/** What this browser remembers, also for the tabs and days to come. */
export const useRemembered = <Value>(key: string, defaultValue: Value) =>
  useLocalStorage<Value>({ key, defaultValue, getInitialValueInEffect: false });
