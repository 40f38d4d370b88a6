// Runs before the page is drawn, so that it never flashes in the other colours.

/** The choice that the admin app keeps under this name; both have the same address. */
const CHOICE = 'mantine-color-scheme-value';

const chosen = (): string | null => {
  try {
    return localStorage.getItem(CHOICE);
  } catch {
    // The reader allows no storage.
    return null;
  }
};

const isDarkSystem = matchMedia('(prefers-color-scheme: dark)');

const apply = (): void => {
  const choice = chosen();
  const system = isDarkSystem.matches ? 'dark' : 'light';
  const theme = choice === 'light' || choice === 'dark' ? choice : system;
  document.documentElement.dataset['theme'] = theme;
  // The reference has classes for it.
  document.body?.classList.toggle('dark-mode', theme === 'dark');
  document.body?.classList.toggle('light-mode', theme === 'light');
};

apply();
// The reference listens as well, and would set its classes back.
isDarkSystem.addEventListener('change', () => setTimeout(apply));
// Another tab, perhaps of the app, chose.
addEventListener('storage', apply);
document.addEventListener('click', ({ target }) => {
  if (!(target instanceof Element) || !target.closest('#theme-button')) return;
  const next = document.documentElement.dataset['theme'] === 'dark' ? 'light' : 'dark';
  try {
    localStorage.setItem(CHOICE, next);
  } catch {}
  document.documentElement.dataset['theme'] = next;
  apply();
});

export {};
