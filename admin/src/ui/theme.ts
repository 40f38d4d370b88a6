import { type CSSVariablesResolver, createTheme } from '@mantine/core';

/** Shades on which white text, and which as text on white, have the contrast that WCAG AA asks for. */
export const theme = createTheme({
  primaryColor: 'blue',
  primaryShade: 8,
  defaultRadius: 'md',
  cursorType: 'pointer',
  respectReducedMotion: true,
  // Named, not imported: most of them are not needed to begin with.
  components: {
    // A dialog's heading is none of the page's: a second banner would mislead those who jump between landmarks.
    Modal: {
      defaultProps: { attributes: { header: { role: 'presentation' } } },
      styles: { title: { fontWeight: 600 } },
    },
    Badge: { defaultProps: { tt: 'none', fw: 600 } },
    Fieldset: { styles: { legend: { fontWeight: 600 } } },
  },
});

/** The library's quiet colours are too quiet for small text. */
export const cssVariables: CSSVariablesResolver = () => ({
  variables: {},
  light: {
    '--mantine-color-dimmed': 'var(--mantine-color-gray-7)',
    '--mantine-color-placeholder': 'var(--mantine-color-gray-7)',
    '--mantine-color-error': 'var(--mantine-color-red-9)',
    '--mantine-color-green-light-color': '#1d6a2d',
    '--mantine-color-teal-light-color': '#06694b',
    '--mantine-color-orange-light-color': '#a33508',
    '--mantine-color-yellow-light-color': '#854700',
  },
  dark: {
    '--mantine-color-dimmed': 'var(--mantine-color-dark-1)',
    '--mantine-color-placeholder': 'var(--mantine-color-dark-1)',
    '--mantine-color-error': 'var(--mantine-color-red-4)',
  },
});
