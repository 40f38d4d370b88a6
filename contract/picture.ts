// Reads the size of a picture from its bytes, without decoding it; finds pictures that are truncated, damaged or of another type.

interface Size {
  width: number;
  height: number;
}

const textAt = (view: DataView, at: number): string =>
  String.fromCharCode(...[0, 1, 2, 3].map((step) => view.getUint8(at + step)));

/** CRC-32 of each byte, as PNG has it. */
const CRCS = Uint32Array.from({ length: 256 }, (_, byte) => {
  let crc = byte;
  for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? 0xedb88320 ^ (crc >>> 1) : crc >>> 1;
  return crc;
});

const crcOf = (view: DataView, from: number, length: number): number => {
  let crc = ~0;
  for (let at = from; at < from + length; at++)
    crc = (CRCS[(crc ^ view.getUint8(at)) & 0xff] ?? 0) ^ (crc >>> 8);
  return ~crc >>> 0;
};

/** PNG: a signature, then chunks of length, name, content and checksum, from IHDR to IEND. */
const sizeOfPng = (view: DataView): Size | null => {
  if (view.getUint32(0) !== 0x89504e47 || view.getUint32(4) !== 0x0d0a1a0a) return null;
  if (textAt(view, 12) !== 'IHDR') return null;
  for (let at = 8; ; at += view.getUint32(at) + 12) {
    const length = view.getUint32(at);
    if (crcOf(view, at + 4, length + 4) !== view.getUint32(at + 8 + length)) return null;
    if (textAt(view, at + 4) === 'IEND') return { width: view.getUint32(16), height: view.getUint32(20) };
  }
};

/** The markers that begin a frame; three in that range have another meaning. */
const isFrame = (marker: number): boolean =>
  marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker);

/** JPEG: segments that begin with a marker. The frame has the size; the end of the picture comes after it. */
const sizeOfJpeg = (view: DataView): Size | null => {
  if (view.getUint16(0) !== 0xffd8) return null;
  for (let at = 2; ; ) {
    if (view.getUint8(at) !== 0xff) return null;
    const marker = view.getUint8(at + 1);
    if (isFrame(marker))
      return endsAfter(view, at) ? { width: view.getUint16(at + 7), height: view.getUint16(at + 5) } : null;
    at += marker === 0xff ? 1 : 2 + view.getUint16(at + 2);
  }
};

const endsAfter = (view: DataView, from: number): boolean => {
  for (let at = view.byteLength - 2; at > from; at--) if (view.getUint16(at) === 0xffd9) return true;
  return false;
};

const uint24 = (view: DataView, at: number): number =>
  view.getUint16(at, true) + view.getUint8(at + 2) * 0x10000;

/** Where each kind of WebP has its size. */
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

/** WebP: RIFF, the length of what follows, WEBP, and chunks. */
const sizeOfWebp = (view: DataView): Size | null => {
  if (textAt(view, 0) !== 'RIFF' || textAt(view, 8) !== 'WEBP') return null;
  if (view.getUint32(4, true) + 8 > view.byteLength) return null;
  return WEBP_SIZES[textAt(view, 12)]?.(view) ?? null;
};

const READERS = { 'image/png': sizeOfPng, 'image/jpeg': sizeOfJpeg, 'image/webp': sizeOfWebp } as const;
export type PictureType = keyof typeof READERS;
export const PICTURE_TYPES = Object.keys(READERS) as PictureType[];

/** The size of a picture; null if the bytes are not a complete picture of that type. */
export const pictureSize = (bytes: Uint8Array, type: PictureType): Size | null => {
  try {
    return READERS[type](new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength));
  } catch {
    // The data is truncated.
    return null;
  }
};
