import { type CSSVariablesResolver, colorsTuple, createTheme } from '@mantine/core';
import { texts } from '../texts.ts';

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
  '"Geist Variable", ui-sans-serif, system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif';

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
  fontFamilyMonospace:
    '"Geist Mono Variable", ui-monospace, "SF Mono", "Cascadia Mono", Menlo, Consolas, monospace',
  // Tables and controls have `sm`, the text of a page `md`, labels `xs`.
  fontSizes: { xs: '0.75rem', sm: '0.8125rem', md: '0.875rem', lg: '1rem', xl: '1.25rem' },
  lineHeights: { xs: '1.4', sm: '1.45', md: '1.5', lg: '1.5', xl: '1.4' },
  fontWeights: { regular: '400', medium: '500', bold: '600' },
  radius: { xs: '0.125rem', sm: '0.25rem', md: '0.375rem', lg: '0.5rem', xl: '0.75rem' },
  headings: {
    fontFamily: FONT,
    fontWeight: '600',
    sizes: {
      h1: { fontSize: '1.5rem', lineHeight: '1.25' },
      h2: { fontSize: '1.25rem', lineHeight: '1.3' },
      h3: { fontSize: '1rem', lineHeight: '1.4' },
      h4: { fontSize: '0.875rem', lineHeight: '1.45' },
      h5: { fontSize: '0.8125rem', lineHeight: '1.45' },
    },
  },
  // By name, not imported: the first page needs few of these components.
  components: {
    // Without this role a screen reader would list each dialog's header as a second banner of the page.
    Modal: {
      defaultProps: {
        attributes: { header: { role: 'presentation' } },
        closeButtonProps: { 'aria-label': texts.common.close },
        transitionProps: { duration: 140 },
      },
      styles: { title: { fontWeight: 600, fontSize: '1rem', lineHeight: '1.4' } },
    },
    // In a narrow column its words would be cut.
    Badge: { defaultProps: { tt: 'none', fw: 500, radius: 'sm', miw: 'max-content' } },
    Switch: {
      defaultProps: { withThumbIndicator: false },
      // Without it the track of one that is off is hardly to be seen.
      styles: { track: { border: '1px solid var(--mantine-color-dimmed)' } },
    },
    Textarea: { defaultProps: { autosize: true, minRows: 1, maxRows: 10 } },
    Tooltip: { defaultProps: { transitionProps: { duration: 120 } } },
  },
});

/** One hue of the library: its name, and the colour of small text on its light ground where the library's has too little contrast. */
const HUES = {
  blue: 0,
  red: 0,
  orange: '#a33508',
  yellow: '#854700',
  green: '#1d6a2d',
  teal: '#06694b',
  cyan: 0,
  grape: 0,
};

/** In the dark, a fifth of the hue behind its lightest shade, so that chips differ by colour and not by their words alone. */
const darkHues = Object.keys(HUES).flatMap((hue) => [
  [`--mantine-color-${hue}-light`, `color-mix(in srgb, var(--mantine-color-${hue}-5) 20%, transparent)`],
  [
    `--mantine-color-${hue}-light-hover`,
    `color-mix(in srgb, var(--mantine-color-${hue}-5) 26%, transparent)`,
  ],
  [`--mantine-color-${hue}-light-color`, `var(--mantine-color-${hue}-2)`],
]);
const lightHues = Object.entries(HUES).flatMap(([hue, color]) =>
  color === 0 ? [] : [[`--mantine-color-${hue}-light-color`, color]],
);

/** Some of the library's colours have too little contrast for small text. */
export const cssVariables: CSSVariablesResolver = () => ({
  variables: {},
  light: {
    ...Object.fromEntries(lightHues),
    '--mantine-color-text': GREY[9],
    '--mantine-color-dimmed': 'var(--mantine-color-gray-7)',
    '--mantine-color-placeholder': 'var(--mantine-color-gray-7)',
    '--mantine-color-default-border': 'var(--mantine-color-gray-3)',
    '--mantine-color-error': 'var(--mantine-color-red-9)',
    '--canvas': GREY[1],
    '--control-border': '#818a99',
    '--field': GREY[0],
    '--rule': GREY[2],
    '--row-hover': GREY[0],
    '--age-0': GREY[5],
    '--age-1': '#e0b23c',
    '--age-2': '#d97706',
    '--age-3': '#d92d20',
    '--due-soon': '#a33508',
    '--due-late': 'var(--mantine-color-red-9)',
  },
  dark: {
    ...Object.fromEntries(darkHues),
    '--mantine-color-text': '#e4e6eb',
    '--mantine-color-dimmed': 'var(--mantine-color-dark-1)',
    '--mantine-color-placeholder': 'var(--mantine-color-dark-1)',
    '--mantine-color-default-border': 'var(--mantine-color-dark-5)',
    '--mantine-color-error': 'var(--mantine-color-red-4)',
    '--canvas': DARK[8],
    '--control-border': '#7b8290',
    '--field': DARK[6],
    '--rule': DARK[6],
    '--row-hover': '#202329',
    '--age-0': DARK[3],
    '--age-1': '#b48a2c',
    '--age-2': '#e08a2e',
    '--age-3': '#f0564a',
    '--due-soon': 'var(--mantine-color-orange-4)',
    '--due-late': 'var(--mantine-color-red-4)',
  },
});
