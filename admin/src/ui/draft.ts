/** What was typed into a form, kept in this tab until it is sent: a lost connection or a reload loses nothing. */
export interface Draft<Values> {
  read(): Values | null;
  write(values: Values): void;
  /** The key under which this body is sent: the same for the same body, so that a second try makes nothing twice. */
  keyFor(body: unknown): string;
  clear(): void;
}

const RANDOM_BYTES = 16;
/** Also where the page came over plain http, where browsers make no UUIDs. */
const randomKey = (): string =>
  Array.from(crypto.getRandomValues(new Uint8Array(RANDOM_BYTES)), (byte) =>
    byte.toString(16).padStart(2, '0'),
  ).join('');

interface Kept<Values> {
  values: Values;
  attempt?: { body: string; key: string };
}

const PREFIX = 'handback.draft.';

/** All of them, whosever they are. */
export const clearDrafts = (): void => {
  for (const name of Object.keys(sessionStorage))
    if (name.startsWith(PREFIX)) sessionStorage.removeItem(name);
};

/** One draft a form and a person: nobody finds another's customers in it. */
export const draftOf = <Values extends object>(form: string, userId: string): Draft<Values> => {
  const name = `${PREFIX}${form}.${userId}`;
  const kept = (): Kept<Values> | null => {
    try {
      return JSON.parse(sessionStorage.getItem(name) ?? 'null');
    } catch {
      return null;
    }
  };
  const keep = (draft: Kept<Values>): void => {
    try {
      sessionStorage.setItem(name, JSON.stringify(draft));
    } catch {
      // A full or forbidden store: the form works without.
    }
  };
  return {
    read: () => kept()?.values ?? null,
    write: (values) => keep({ ...kept(), values }),
    keyFor: (body) => {
      const before = kept();
      const text = JSON.stringify(body);
      if (before?.attempt?.body === text) return before.attempt.key;
      const key = randomKey();
      if (before) keep({ ...before, attempt: { body: text, key } });
      return key;
    },
    clear: () => sessionStorage.removeItem(name),
  };
};
