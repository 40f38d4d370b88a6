import { Button, FileButton, Group, Input } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import { PICTURE_TYPES, type PictureType, pictureSize } from '../../../contract/picture.ts';
import { isLogoSize, LOGO_BYTES, LOGO_TYPES } from '../../../contract/shop-settings.ts';

interface Props {
  /** A data URL, or empty. */
  value: string;
  error: ReactNode;
  onChange(logo: string): void;
}

export const LogoInput = ({ value, error, onChange }: Props) => {
  const [failure, setFailure] = useState<string | null>(null);
  const read = async (file: File | null) => {
    if (!file) return;
    const logo = await logoFrom(file);
    setFailure(logo === null ? 'This file is damaged, or it is no picture. Choose another one.' : null);
    if (logo !== null) onChange(logo);
  };
  return (
    <Input.Wrapper
      label="Logo"
      labelElement="div"
      description={`PNG, JPEG or WebP. Larger than ${LOGO_BYTES / 1000} kB is made smaller.`}
      error={failure ?? error}
    >
      <Group mt={6} gap="sm">
        {value ? (
          <img
            src={value}
            alt="The shop’s logo"
            style={{ background: '#fff', borderRadius: 4, maxHeight: 56, maxWidth: 180, padding: 4 }}
          />
        ) : null}
        <FileButton onChange={(file) => void read(file)} accept={LOGO_TYPES.join()}>
          {(props) => (
            <Button variant="default" size="xs" {...props}>
              {value ? 'Replace the logo' : 'Choose a logo'}
            </Button>
          )}
        </FileButton>
        {value ? (
          <Button variant="subtle" size="xs" onClick={() => onChange('')}>
            Remove
          </Button>
        ) : null}
      </Group>
    </Input.Wrapper>
  );
};

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
const logoFrom = async (file: File): Promise<string | null> => {
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
