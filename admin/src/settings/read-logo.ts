import { PICTURE_TYPES, type PictureType, pictureSize } from '../../../contract/picture.ts';
import { isLogoSize, LOGO_BYTES } from '../../../contract/shop-settings.ts';

/** Wide enough for print, small enough for the limit. */
const SIDES = [1000, 700, 480, 320];
const JPEG_QUALITY = 0.85;

const dataUrlOf = (blob: Blob): Promise<string> =>
  new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(String(reader.result));
    reader.onerror = () => reject(reader.error);
    reader.readAsDataURL(blob);
  });

const drawn = (picture: ImageBitmap, side: number, type: string): Promise<Blob | null> => {
  const canvas = document.createElement('canvas');
  const scale = Math.min(1, side / Math.max(picture.width, picture.height));
  canvas.width = Math.max(1, Math.round(picture.width * scale));
  canvas.height = Math.max(1, Math.round(picture.height * scale));
  canvas.getContext('2d')?.drawImage(picture, 0, 0, canvas.width, canvas.height);
  return new Promise((resolve) => canvas.toBlob(resolve, type, JPEG_QUALITY));
};

/** Browsers draw what they can of a damaged file, so its bytes are looked at first. */
const isDamaged = async (file: File): Promise<boolean> =>
  isUsedAsItIs(file.type) && pictureSize(new Uint8Array(await file.arrayBuffer()), file.type) === null;

const isUsedAsItIs = (type: string): type is PictureType => (PICTURE_TYPES as string[]).includes(type);

/** The picture in a file as a data URL, made smaller where it is too large; null where it cannot be read. */
export const logoFrom = async (file: File): Promise<string | null> => {
  if (await isDamaged(file)) return null;
  const picture = await createImageBitmap(file).catch(() => null);
  if (!picture) return null;
  if (isUsedAsItIs(file.type) && file.size <= LOGO_BYTES && isLogoSize(picture)) return dataUrlOf(file);
  const type = file.type === 'image/jpeg' ? 'image/jpeg' : 'image/png';
  for (const side of SIDES) {
    const smaller = await drawn(picture, side, type);
    if (smaller && smaller.size <= LOGO_BYTES) return dataUrlOf(smaller);
  }
  return null;
};
