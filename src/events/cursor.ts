import { sha256 } from '../secrets.ts';

// A cursor names a position in one shop's event log. It holds nothing secret: the check is there so that a cursor of another
// shop, or one that was cut off or made up, is refused instead of answered with the wrong events.

const CHECK_LENGTH = 8;

const checkOf = (shopId: string, position: string): string =>
  sha256(`${shopId} ${position}`).slice(0, CHECK_LENGTH);

export const cursorOf = (shopId: string, position: number): string =>
  Buffer.from(`${position}.${checkOf(shopId, String(position))}`).toString('base64url');

/** null: no cursor of this shop. */
export const positionOf = (shopId: string, cursor: string): number | null => {
  const [position = '', check] = Buffer.from(cursor, 'base64url').toString('latin1').split('.');
  if (!/^\d{1,15}$/.test(position) || check !== checkOf(shopId, position)) return null;
  const known = Number(position);
  // One position has one cursor.
  return cursorOf(shopId, known) === cursor ? known : null;
};
