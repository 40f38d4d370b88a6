// This file reads the size of a picture from its first bytes. The service never decodes a picture, so only a browser knows
// whether the rest can be displayed: the form that sends a logo decodes it first.

interface Size {
  width: number;
  height: number;
}

const textAt = (view: DataView, at: number): string =>
  String.fromCharCode(...[0, 1, 2, 3].map((step) => view.getUint8(at + step)));

/** A PNG has a signature and then chunks; the first chunk (IHDR) has the size. */
const sizeOfPng = (view: DataView): Size | null => {
  if (view.getUint32(0) !== 0x89504e47 || view.getUint32(4) !== 0x0d0a1a0a) return null;
  if (textAt(view, 12) !== 'IHDR') return null;
  return { width: view.getUint32(16), height: view.getUint32(20) };
};

/** Recognises the markers that begin a frame; three in that range have another meaning. */
const isFrame = (marker: number): boolean =>
  marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker);

/** A JPEG has segments that begin with a marker; the first frame has the size. */
const sizeOfJpeg = (view: DataView): Size | null => {
  if (view.getUint16(0) !== 0xffd8) return null;
  for (let at = 2; ; ) {
    if (view.getUint8(at) !== 0xff) return null;
    const marker = view.getUint8(at + 1);
    if (isFrame(marker)) return { width: view.getUint16(at + 7), height: view.getUint16(at + 5) };
    at += marker === 0xff ? 1 : 2 + view.getUint16(at + 2);
  }
};

const uint24 = (view: DataView, at: number): number =>
  view.getUint16(at, true) + view.getUint8(at + 2) * 0x10000;

/** Reads the size from each kind of WebP. */
const WEBP_SIZES: Record<string, (view: DataView) => Size> = {
  'VP8 ': (view) => ({
    width: view.getUint16(26, true) & 0x3fff,
    height: view.getUint16(28, true) & 0x3fff,
  }),
  VP8L: (view) => {
    const bits = view.getUint32(21, true);
    return { width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1 };
  },
  VP8X: (view) => ({ width: uint24(view, 24) + 1, height: uint24(view, 27) + 1 }),
};

/** A WebP has RIFF, a length, WEBP, and chunks; the first chunk has the size. */
const sizeOfWebp = (view: DataView): Size | null => {
  if (textAt(view, 0) !== 'RIFF' || textAt(view, 8) !== 'WEBP') return null;
  return WEBP_SIZES[textAt(view, 12)]?.(view) ?? null;
};

const READERS = { 'image/png': sizeOfPng, 'image/jpeg': sizeOfJpeg, 'image/webp': sizeOfWebp } as const;
export type PictureType = keyof typeof READERS;
export const PICTURE_TYPES = Object.keys(READERS) as PictureType[];

/** Returns the size of a picture, or null if the bytes do not begin like a picture of that type. */
export const pictureSize = (bytes: Uint8Array, type: PictureType): Size | null => {
  try {
    return READERS[type](new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength));
  } catch {
    // The data ends before the size.
    return null;
  }
};
