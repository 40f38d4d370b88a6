// Just enough SVG for two pictures that read well on light and on dark.

const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

const STYLE = `
  text { font: 13px system-ui, sans-serif; fill: #1f2328 }
  .title { font-size: 16px; font-weight: 600 }
  .quiet { fill: #59636e }
  .rule { stroke: #d1d9e0; stroke-width: 1 }
  .mark { stroke: #1f2328; stroke-width: 2 }
  .met { fill: #2a78d6 } .unmet { fill: #c2570c }
  .line { fill: none; stroke-width: 2.5 }
  .c0 { stroke: #2a78d6 } .c1 { stroke: #c2570c } .c2 { stroke: #1a7f37 } .c3 { stroke: #8250df } .c4 { stroke: #b5297a }
  .d0 { fill: #2a78d6 } .d1 { fill: #c2570c } .d2 { fill: #1a7f37 } .d3 { fill: #8250df } .d4 { fill: #b5297a }
  @media (prefers-color-scheme: dark) {
    text { fill: #f0f6fc } .quiet { fill: #9198a1 } .rule { stroke: #3d444d } .mark { stroke: #f0f6fc }
    .met { fill: #4493f8 } .unmet { fill: #e0823d }
    .c0 { stroke: #4493f8 } .c1 { stroke: #e0823d } .c2 { stroke: #3fb950 } .c3 { stroke: #ab7df8 } .c4 { stroke: #e877b5 }
    .d0 { fill: #4493f8 } .d1 { fill: #e0823d } .d2 { fill: #3fb950 } .d3 { fill: #ab7df8 } .d4 { fill: #e877b5 }
  }`;

export const picture = (width: number, height: number, title: string, parts: string[]): string =>
  `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img">
<title>${escaped(title)}</title>
<style>${STYLE}
</style>
${parts.join('\n')}
</svg>
`;

interface TextOptions {
  is?: string;
  anchor?: 'start' | 'middle' | 'end';
}
export const text = (x: number, y: number, words: string, { is = '', anchor = 'start' }: TextOptions = {}) =>
  `<text x="${round(x)}" y="${round(y)}" class="${is}" text-anchor="${anchor}">${escaped(words)}</text>`;

export const line = (x1: number, y1: number, x2: number, y2: number, is: string): string =>
  `<line x1="${round(x1)}" y1="${round(y1)}" x2="${round(x2)}" y2="${round(y2)}" class="${is}"/>`;

export const bar = (x: number, y: number, width: number, height: number, is: string): string =>
  `<rect x="${round(x)}" y="${round(y)}" width="${round(Math.max(1, width))}" height="${height}" rx="2" class="${is}"/>`;

export const path = (points: [number, number][], is: string): string =>
  `<path d="M${points.map(([x, y]) => `${round(x)} ${round(y)}`).join(' L')}" class="${is}"/>`;

export const dot = (x: number, y: number, is: string): string =>
  `<circle cx="${round(x)}" cy="${round(y)}" r="4" class="${is}"/>`;

const round = (value: number): number => Math.round(value * 10) / 10;
