import { useState } from 'react';
import { type Draft, draftOf } from '../ui/forms/draft.ts';
import { useSession } from './session.ts';

/** The draft of a form for the person who is signed in, and what was in it when the form opened. */
export const useDraft = <Values extends object>(
  form: string,
): { draft: Draft<Values>; stored: Values | null } => {
  const { user } = useSession();
  const [draft] = useState(() => draftOf<Values>(form, user.id));
  const [stored] = useState(() => draft.read());
  return { draft, stored };
};
