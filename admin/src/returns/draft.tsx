import { Alert, Button, Group } from '@mantine/core';
import { Eraser } from 'lucide-react';
import { useEffect, useState } from 'react';
import { dateFormat } from '../format.ts';
import { useSession } from '../session/session.ts';
import { texts } from '../texts.ts';
import { forgetInTab, readTab, removeFromTab, writeTab } from '../ui/tab-storage.ts';
import { Hint } from '../ui/two-lines.tsx';

const RANDOM_BYTES = 16;
/** Over plain http browsers have no crypto.randomUUID. */
const randomKey = (): string =>
  Array.from(crypto.getRandomValues(new Uint8Array(RANDOM_BYTES)), (byte) =>
    byte.toString(16).padStart(2, '0'),
  ).join('');

/** What a person typed into a form. It stays in this tab until it is sent, so a lost connection or a reload loses nothing. */
const draftOf = <Values extends object>(form: string, userId: string) => {
  const name = `handback.draft.${form}.${userId}`;
  const load = () => readTab<{ values: Values; attempt?: { body: string; key: string } }>(name);
  return {
    read: (): Values | null => load()?.values ?? null,
    write: (values: Values): void => writeTab(name, { ...load(), values }),
    /** The idempotency key of this body: the same for the same body, so that a retry creates nothing twice. */
    keyFor: (body: unknown): string => {
      const before = load();
      const text = JSON.stringify(body);
      if (before?.attempt?.body === text) return before.attempt.key;
      const key = randomKey();
      if (before) writeTab(name, { ...before, attempt: { body: text, key } });
      return key;
    },
    clear: (): void => forgetInTab(name),
  };
};

export const useDraft = <Values extends object>(form: string) => {
  const { user } = useSession();
  const [draft] = useState(() => draftOf<Values>(form, user.id));
  const [stored] = useState(() => draft.read());
  return { draft, stored };
};

interface DialogDraft {
  values: Record<string, string>;
  /** The `updatedAt` that was on the screen when the dialog opened. */
  seen: string;
  /** Whether the dialog was open at last: then it opens again after a reload. */
  isOpen: boolean;
}

export const moveDraftName = (id: string, action: string): string => `move.${id}.${action}`;
export const correctionDraftName = (id: string): string => `correct.${id}`;

export const wasInterrupted = (name: string, userId: string): boolean =>
  draftOf<DialogDraft>(name, userId).read()?.isOpen === true;

/** The draft of a dialog. Only `cancel` and `forget` throw away what was typed. */
export const useDialogDraft = (name: string, updatedAt: string, onClose: () => void) => {
  const { draft, stored } = useDraft<DialogDraft>(name);
  const [seen] = useState(stored?.isOpen ? stored.seen : updatedAt);
  const closeForNow = () => {
    const kept = draft.read();
    if (kept) draft.write({ ...kept, isOpen: false });
    onClose();
  };
  const cancel = () => {
    draft.clear();
    onClose();
  };
  return {
    stored: stored?.values ?? null,
    seen,
    keep: (values: Record<string, string>) => draft.write({ values, seen, isOpen: true }),
    closeForNow,
    cancel,
    forget: draft.clear,
  };
};

const day = dateFormat({ dateStyle: 'long' });

/** Also removes what was typed about it in this tab: it may hold the customer, and cannot be sent any more. */
export const ErasedNotice = ({ id, erasedAt }: { id: string; erasedAt: string }) => {
  useEffect(() => removeFromTab((name) => name.startsWith('handback.draft.') && name.includes(id)), [id]);
  return (
    <Alert color="gray" role="note" icon={<Eraser size={24} />}>
      {texts.intake.erasedOn} <time dateTime={erasedAt}>{day.format(new Date(erasedAt))}</time>.{' '}
      {texts.intake.erasedEnd}
    </Alert>
  );
};

export const DraftNotice = ({ onStartOver }: { onStartOver(): void }) => (
  <Group justify="space-between" gap="sm" wrap="nowrap" role="status">
    <Hint>{texts.intake.draftKept}</Hint>
    <Button size="compact-xs" variant="default" onClick={onStartOver} style={{ flexShrink: 0 }}>
      {texts.intake.startOver}
    </Button>
  </Group>
);
