import { useState } from 'react';
import { useDraft } from '../session/use-draft.ts';
import { draftOf } from '../ui/forms/draft.ts';

/** What was typed into a dialog about a return. */
interface DialogDraft {
  values: Record<string, string>;
  /** The `updatedAt` that was on the screen when the dialog opened. */
  seen: string;
  /** Whether the dialog was open at last: then it opens again after a reload. */
  isOpen: boolean;
}

export const moveDraftName = (id: string, action: string): string => `move.${id}.${action}`;
export const correctionDraftName = (id: string): string => `correct.${id}`;

/** Whether the dialog was open when the page was reloaded or the session ended. */
export const wasInterrupted = (name: string, userId: string): boolean =>
  draftOf<DialogDraft>(name, userId).read()?.isOpen === true;

/** The draft of a dialog. Only `cancel` and `forget` throw away what was typed. */
export const useDialogDraft = (name: string, updatedAt: string, onClose: () => void) => {
  const { draft, stored } = useDraft<DialogDraft>(name);
  const [seen] = useState(stored?.isOpen ? stored.seen : updatedAt);
  /** What was typed stays for the next time. */
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
