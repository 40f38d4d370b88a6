const DIGITS = 6;
const SHORT = /^(?<sign>#?\s*rma[\s-]*|#)?(?<digits>\d{1,5})$/i;

/** `1234`, `#1234` and `rma-1234` as the number that they may be short for; null where it is written in full, or is none. */
const fullNumber = (typed: string): string | null => {
  const digits = SHORT.exec(typed.trim())?.groups?.['digits'];
  return digits === undefined ? null : `#RMA-${digits.padStart(DIGITS, '0')}`;
};

export const isNumber = (rmaNumber: string, typed: string): boolean => fullNumber(typed) === rmaNumber;

/** Digits alone may be a part of anything; with a sign in front they are a number. */
export const withFullNumber = (typed: string): string =>
  SHORT.exec(typed.trim())?.groups?.['sign'] === undefined ? typed : (fullNumber(typed) ?? typed);

/** Asks for what was typed, and for the number that it may be short for, which comes first. */
export const findByNumberToo = async <Found extends { id: string }>(
  typed: string,
  find: (text: string) => Promise<Found[]>,
): Promise<Found[]> => {
  const number = fullNumber(typed);
  const [ofNumber, found] = await Promise.all([number === null ? [] : find(number), find(typed)]);
  return [...ofNumber, ...found.filter(({ id }) => !ofNumber.some((each) => each.id === id))];
};
