import { type CSSVariablesResolver, createTheme } from '@mantine/core';

/** The shade has enough contrast for WCAG AA, both as text on white and below white text. */
export const theme = createTheme({
  primaryColor: 'blue',
  primaryShade: 8,
  defaultRadius: 'md',
  cursorType: 'pointer',
  respectReducedMotion: true,
  // By name, not imported: the first page needs few of these components.
  components: {
    // Without this role a screen reader would list each dialog's header as a second banner of the page.
    Modal: {
      defaultProps: { attributes: { header: { role: 'presentation' } } },
      styles: { title: { fontWeight: 600 } },
    },
    Badge: { defaultProps: { tt: 'none', fw: 600 } },
    Fieldset: { styles: { legend: { fontWeight: 600 } } },
  },
});

/** Some of the library's colours have too little contrast for small text. */
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
