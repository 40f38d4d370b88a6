import { crc32, deflateSync, inflateSync } from 'node:zlib';

// Makes a screenshot smaller: a page has few colours, and a picture with a palette of them needs a third of the bytes.

const SIGNATURE = Buffer.from('89504e470d0a1a0a', 'hex');
const MOST_COLOURS = 256;
/** Colours that are nearer than this to one of the palette are drawn in it; where the palette is too small, the distance grows. */
const NEAR = 6;

const chunk = (name: string, content: Buffer): Buffer => {
  const body = Buffer.concat([Buffer.from(name), content]);
  const ends = Buffer.alloc(8);
  ends.writeUInt32BE(content.length, 0);
  ends.writeUInt32BE(crc32(body), 4);
  return Buffer.concat([ends.subarray(0, 4), body, ends.subarray(4)]);
};

const chunksOf = (png: Buffer): { name: string; content: Buffer }[] => {
  const found: { name: string; content: Buffer }[] = [];
  for (let at = SIGNATURE.length; at < png.length; ) {
    const length = png.readUInt32BE(at);
    found.push({
      name: png.toString('latin1', at + 4, at + 8),
      content: png.subarray(at + 8, at + 8 + length),
    });
    at += length + 12;
  }
  return found;
};

const paeth = (left: number, above: number, corner: number): number => {
  const guess = left + above - corner;
  const [a, b, c] = [Math.abs(guess - left), Math.abs(guess - above), Math.abs(guess - corner)];
  if (a <= b && a <= c) return left;
  return b <= c ? above : corner;
};

/** What each of the five filters of the format predicts for a byte. */
const PREDICT = [
  () => 0,
  (left: number) => left,
  (_left: number, above: number) => above,
  (left: number, above: number) => (left + above) >> 1,
  paeth,
];

/** The bytes of all pixels, line by line. */
const pixelsOf = (lines: Buffer, height: number, stride: number, size: number): Buffer => {
  const pixels = Buffer.alloc(height * stride);
  for (let y = 0; y < height; y += 1) {
    const predict = PREDICT[lines[y * (stride + 1)] ?? 0] ?? (() => 0);
    for (let x = 0; x < stride; x += 1) {
      const at = y * stride + x;
      const left = x < size ? 0 : (pixels[at - size] ?? 0);
      const above = y === 0 ? 0 : (pixels[at - stride] ?? 0);
      const corner = x < size || y === 0 ? 0 : (pixels[at - stride - size] ?? 0);
      pixels[at] = (lines[y * (stride + 1) + 1 + x] ?? 0) + predict(left, above, corner);
    }
  }
  return pixels;
};

type Colour = [red: number, green: number, blue: number];
const partsOf = (colour: number): Colour => [colour >> 16, (colour >> 8) & 255, colour & 255];
const distance = (one: Colour, other: Colour): number =>
  Math.abs(one[0] - other[0]) + Math.abs(one[1] - other[1]) + Math.abs(one[2] - other[2]);

/** The most frequent colours that differ enough from each other. */
const paletteOf = (frequent: readonly Colour[], near = NEAR): Colour[] => {
  const palette: Colour[] = [];
  for (const colour of frequent) {
    if (palette.some((known) => distance(known, colour) < near)) continue;
    if (palette.length === MOST_COLOURS) return paletteOf(frequent, near + 2);
    palette.push(colour);
  }
  return palette;
};

const nearest = (palette: readonly Colour[], colour: Colour): number => {
  let best = 0;
  for (let i = 1; i < palette.length; i += 1)
    if (distance(palette[i] as Colour, colour) < distance(palette[best] as Colour, colour)) best = i;
  return best;
};

/** Takes what Chromium writes: eight bits for each of three or four parts of a colour; what is transparent is lost. */
export const fewerColours = (png: Buffer): Buffer => {
  const chunks = chunksOf(png);
  const header = Buffer.from(chunks[0]?.content ?? Buffer.alloc(13));
  const [width, height, size] = [header.readUInt32BE(0), header.readUInt32BE(4), header[9] === 6 ? 4 : 3];
  const packed = chunks.filter(({ name }) => name === 'IDAT').map(({ content }) => content);
  const pixels = pixelsOf(inflateSync(Buffer.concat(packed)), height, width * size, size);

  const colours = new Uint32Array(width * height).map((_, i) => pixels.readUIntBE(i * size, 3));
  const counts = new Map<number, number>();
  for (const colour of colours) counts.set(colour, (counts.get(colour) ?? 0) + 1);
  const frequent = [...counts].sort(([, one], [, other]) => other - one).map(([colour]) => partsOf(colour));
  const palette = paletteOf(frequent);
  const indexes = new Map([...counts.keys()].map((colour) => [colour, nearest(palette, partsOf(colour))]));

  const lines = Buffer.alloc(height * (width + 1));
  for (let i = 0; i < colours.length; i += 1)
    lines[Math.floor(i / width) * (width + 1) + 1 + (i % width)] = indexes.get(colours[i] ?? 0) ?? 0;
  // Eight bits for each pixel, which name a colour of the palette.
  header[8] = 8;
  header[9] = 3;
  return Buffer.concat([
    SIGNATURE,
    chunk('IHDR', header),
    chunk('PLTE', Buffer.from(palette.flat())),
    chunk('IDAT', deflateSync(lines, { level: 9, memLevel: 9 })),
    chunk('IEND', Buffer.alloc(0)),
  ]);
};
