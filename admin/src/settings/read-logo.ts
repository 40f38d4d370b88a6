import { LOGO_BYTES, LOGO_TYPES } from '../../../contract/shop-settings.ts';

/** Wide enough for print, small enough for the limit. */
const WIDTHS = [1000, 700, 480, 320];
const JPEG_QUALITY = 0.85;

const dataUrlOf = (blob: Blob): Promise<string> =>
  new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(String(reader.result));
    reader.onerror = () => reject(reader.error);
    reader.readAsDataURL(blob);
  });

const drawn = (picture: ImageBitmap, width: number, type: string): Promise<Blob | null> => {
  const canvas = document.createElement('canvas');
  canvas.width = Math.min(width, picture.width);
  canvas.height = Math.round((picture.height * canvas.width) / picture.width);
  canvas.getContext('2d')?.drawImage(picture, 0, 0, canvas.width, canvas.height);
  return new Promise((resolve) => canvas.toBlob(resolve, type, JPEG_QUALITY));
};

/** The picture in a file as a data URL, made smaller where it is too large; null where it cannot be read. */
export const logoFrom = async (file: File): Promise<string | null> => {
  const picture = await createImageBitmap(file).catch(() => null);
  if (!picture) return null;
  const isAllowed = (LOGO_TYPES as string[]).includes(file.type);
  if (isAllowed && file.size <= LOGO_BYTES) return dataUrlOf(file);
  const type = file.type === 'image/jpeg' ? 'image/jpeg' : 'image/png';
  for (const width of WIDTHS) {
    const smaller = await drawn(picture, width, type);
    if (smaller && smaller.size <= LOGO_BYTES) return dataUrlOf(smaller);
  }
  return null;
};
