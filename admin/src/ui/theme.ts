import { type CSSVariablesResolver, colorsTuple, createTheme } from '@mantine/core';

/** The one accent, an ink blue. It takes the place of the library's blue, so that nothing has a second one. */
const INK = colorsTuple(
  '#f0f2ff #e0e4fd #bfc7f8 #9aa6f2 #7b8aee #6373e6 #5263d9 #4151bf #35439f #283380'.split(' '),
);
/** Greys with a little of the accent in them. */
const GREY = colorsTuple(
  '#f7f8fa #f0f2f5 #e6e9ee #dadee5 #c2c8d2 #99a1af #757e8d #545c6a #363c47 #1d2129'.split(' '),
);
const DARK = colorsTuple(
  '#d3d6dd #b3b8c2 #8b909c #666c79 #3b404b #2d313a #23262e #1a1c22 #131519 #0d0e11'.split(' '),
);

const FONT =
  'ui-sans-serif, system-ui, -apple-system, "Segoe UI Variable Text", "Segoe UI", Roboto, "Helvetica Neue", "Noto Sans", sans-serif';

/** The shades have enough contrast for WCAG AA, both as text on the page and below white text. */
export const theme = createTheme({
  primaryColor: 'blue',
  primaryShade: { light: 7, dark: 6 },
  colors: { blue: INK, gray: GREY, dark: DARK },
  black: GREY[9],
  defaultRadius: 'md',
  cursorType: 'pointer',
  respectReducedMotion: true,
  fontFamily: FONT,
  fontFamilyMonospace: 'ui-monospace, "SF Mono", "Cascadia Mono", Menlo, Consolas, monospace',
  fontSizes: { xs: '0.75rem', sm: '0.875rem', md: '0.9375rem', lg: '1.0625rem', xl: '1.25rem' },
  headings: {
    fontFamily: FONT,
    fontWeight: '650',
    sizes: {
      h1: { fontSize: '1.625rem', lineHeight: '1.25' },
      h2: { fontSize: '1.375rem', lineHeight: '1.3' },
      h3: { fontSize: '1.125rem', lineHeight: '1.35' },
      h4: { fontSize: '1rem', lineHeight: '1.4' },
      h5: { fontSize: '0.9375rem', lineHeight: '1.4' },
    },
  },
  // By name, not imported: the first page needs few of these components.
  components: {
    // Without this role a screen reader would list each dialog's header as a second banner of the page.
    Modal: {
      defaultProps: {
        attributes: { header: { role: 'presentation' } },
        closeButtonProps: { 'aria-label': 'Close' },
      },
      styles: { title: { fontWeight: 650, fontSize: '1.0625rem', lineHeight: '1.35' } },
    },
    // In a narrow column its words would be cut.
    Badge: { defaultProps: { tt: 'none', fw: 600, radius: 'sm', miw: 'max-content' } },
    Fieldset: { styles: { legend: { fontWeight: 600 } } },
  },
});

/** Some of the library's colours have too little contrast for small text. */
export const cssVariables: CSSVariablesResolver = () => ({
  variables: {},
  light: {
    '--mantine-color-text': GREY[9],
    '--mantine-color-dimmed': 'var(--mantine-color-gray-7)',
    '--mantine-color-placeholder': 'var(--mantine-color-gray-7)',
    '--mantine-color-default-border': 'var(--mantine-color-gray-3)',
    '--mantine-color-error': 'var(--mantine-color-red-9)',
    '--mantine-color-green-light-color': '#1d6a2d',
    '--mantine-color-teal-light-color': '#06694b',
    '--mantine-color-orange-light-color': '#a33508',
    '--mantine-color-yellow-light-color': '#854700',
    '--canvas': GREY[1],
    '--control-border': '#818a99',
  },
  dark: {
    '--mantine-color-text': '#e4e6eb',
    '--mantine-color-dimmed': 'var(--mantine-color-dark-1)',
    '--mantine-color-placeholder': 'var(--mantine-color-dark-1)',
    '--mantine-color-default-border': 'var(--mantine-color-dark-5)',
    '--mantine-color-error': 'var(--mantine-color-red-4)',
    '--canvas': DARK[8],
    '--control-border': '#7b8290',
  },
});
