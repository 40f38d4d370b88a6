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
