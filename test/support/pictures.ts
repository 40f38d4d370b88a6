import { Buffer } from 'node:buffer';
import { crc32, deflateSync } from 'node:zlib';

// Small pictures of each type that a logo may have.

const chunk = (name: string, content: Buffer): Buffer => {
  const body = Buffer.concat([Buffer.from(name), content]);
  const ends = Buffer.alloc(8);
  ends.writeUInt32BE(content.length, 0);
  ends.writeUInt32BE(crc32(body), 4);
  return Buffer.concat([ends.subarray(0, 4), body, ends.subarray(4)]);
};

/** A black picture. A comment makes the file as large as `bytes`. */
export const png = ({ width = 1, height = 1, bytes = 0 } = {}): Buffer => {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header[8] = 8;
  const parts = [
    Buffer.from('89504e470d0a1a0a', 'hex'),
    chunk('IHDR', header),
    chunk('IDAT', deflateSync(Buffer.alloc(height * (width + 1)))),
    chunk('IEND', Buffer.alloc(0)),
  ];
  const size = Buffer.concat(parts).length;
  if (bytes > size) parts.splice(2, 0, chunk('tEXt', Buffer.alloc(bytes - size - 12, 'x')));
  return Buffer.concat(parts);
};

/** Only what the service reads: a comment, the frame with its size, and the end. */
export const jpeg = ({ width = 1, height = 1 } = {}): Buffer => {
  const frame = Buffer.from('ffc0000b080000000001011100', 'hex');
  frame.writeUInt16BE(height, 5);
  frame.writeUInt16BE(width, 7);
  return Buffer.concat([Buffer.from('ffd8fffe00046869', 'hex'), frame, Buffer.from('ffd9', 'hex')]);
};

/** Only what the service reads: the frame of the lossy kind, with its size. */
export const webp = ({ width = 1, height = 1 } = {}): Buffer => {
  const file = Buffer.alloc(30);
  file.write('RIFF', 0);
  file.writeUInt32LE(file.length - 8, 4);
  file.write('WEBPVP8 ', 8);
  file.writeUInt32LE(10, 16);
  file.set([0x9d, 0x01, 0x2a], 23);
  file.writeUInt16LE(width, 26);
  file.writeUInt16LE(height, 28);
  return file;
};

export const dataUrl = (type: string, bytes: Buffer): string =>
  `data:image/${type};base64,${bytes.toString('base64')}`;
