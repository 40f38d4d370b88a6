/** What was typed into a form. It stays in this tab until it is sent, so a lost connection or a reload loses nothing. */
export interface Draft<Values> {
  read(): Values | null;
  write(values: Values): void;
  /** The idempotency key of this body: the same for the same body, so that a retry creates nothing twice. */
  keyFor(body: unknown): string;
  clear(): void;
}

const RANDOM_BYTES = 16;
/** Over plain http browsers have no crypto.randomUUID. */
const randomKey = (): string =>
  Array.from(crypto.getRandomValues(new Uint8Array(RANDOM_BYTES)), (byte) =>
    byte.toString(16).padStart(2, '0'),
  ).join('');

interface Stored<Values> {
  values: Values;
  attempt?: { body: string; key: string };
}

const PREFIX = 'handback.draft.';

/** Each person has a draft of their own, so nobody sees the customers that a colleague typed. */
export const draftOf = <Values extends object>(form: string, userId: string): Draft<Values> => {
  const name = `${PREFIX}${form}.${userId}`;
  const load = (): Stored<Values> | null => {
    try {
      return JSON.parse(sessionStorage.getItem(name) ?? 'null');
    } catch {
      return null;
    }
  };
  const save = (draft: Stored<Values>): void => {
    try {
      sessionStorage.setItem(name, JSON.stringify(draft));
    } catch {
      // The storage is full or forbidden: the form works without a draft, and says nothing.
    }
  };
  return {
    read: () => load()?.values ?? null,
    write: (values) => save({ ...load(), values }),
    keyFor: (body) => {
      const before = load();
      const text = JSON.stringify(body);
      if (before?.attempt?.body === text) return before.attempt.key;
      const key = randomKey();
      if (before) save({ ...before, attempt: { body: text, key } });
      return key;
    },
    clear: () => sessionStorage.removeItem(name),
  };
};
