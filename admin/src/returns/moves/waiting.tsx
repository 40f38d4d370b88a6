import { Button, Group, Input, Radio, Textarea, TextInput } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useRef, useState } from 'react';
import { WAITING_FOR } from '../../../../contract/lifecycle.ts';
import { dayOf } from '../../format.ts';
import { texts } from '../../texts.ts';
import { FormDialog } from '../../ui/forms/form-dialog.tsx';
import { notifyDone } from '../../ui/notify.ts';
import { Hint } from '../../ui/two-lines.tsx';
import { type AnyReturn, countOf, type Kind } from '../kinds.ts';
import { detailQuery, refetchReturns } from '../queries.ts';
import { runForEach, showResult } from './bulk-dialog.tsx';
import { setWaiting, type Waiting } from './toasts.tsx';
import { asTime, dayIn, faultIn, latestDay } from './waiting-days.ts';

const words = texts.waiting;

const WEEK_DAYS = 7;
const MOST_LETTERS = 500;

/** From Sunday to the next Monday is one day. */
const toNextMonday = (): number => (WEEK_DAYS + 1 - new Date().getDay()) % WEEK_DAYS || WEEK_DAYS;

const CHIPS = [
  { label: words.tomorrow, day: () => dayIn(1) },
  { label: words.inThreeDays, day: () => dayIn(3) },
  { label: words.nextWeek, day: () => dayIn(toNextMonday()) },
  { label: words.noDate, day: () => '' },
];

interface Values {
  what: Waiting['what'];
  day: string;
  note: string;
}

interface Props {
  kind: Kind;
  items: readonly AnyReturn[];
  onClose(): void;
}

/** Says what one return or many wait for. A toast tells of many, and of failures. */
export const WaitingDialog = ({ kind, items, onClose }: Props) => {
  const [saved] = useState(() => presentValues(items));
  const [values, setValues] = useState(saved);
  const [fault, setFault] = useState<string | null>(null);
  const dayInput = useRef<HTMLInputElement>(null);
  const saving = useSaving(kind, items, onClose);
  const set = (part: Partial<Values>) => {
    setValues({ ...values, ...part });
    if (part.day !== undefined) setFault(null);
  };
  const { what, day, note } = values;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    // The browser has no value for a day that is not complete, or does not exist.
    const isIncomplete = dayInput.current?.validity.badInput === true;
    const found = isIncomplete ? words.noSuchDay : faultIn(day, saved.day);
    setFault(found);
    if (found !== null) return dayInput.current?.focus();
    saving.mutate({ what, until: day === '' ? null : asTime(day), note: note.trim() || null });
  };
  return (
    <FormDialog
      title={words.title(items.length === 1 ? (items[0]?.rmaNumber ?? '') : countOf(items.length, kind))}
      action={words.save}
      busy={saving.isPending}
      failure={saving.error}
      onSubmit={submit}
      onClose={onClose}
    >
      <Radio.Group
        label={words.what}
        value={what}
        onChange={(chosen) => set({ what: chosen as Waiting['what'] })}
      >
        <Group gap="md" mt={6}>
          {WAITING_FOR.map((each) => (
            <Radio
              key={each}
              value={each}
              label={words.names[each]}
              data-autofocus={each === what || undefined}
            />
          ))}
        </Group>
      </Radio.Group>
      <Input.Wrapper label={words.until} labelElement="div" error={fault}>
        <Group gap={6} role="group" aria-label={words.until}>
          {CHIPS.map(({ label, day: of }) => (
            <Button
              key={label}
              size="xs"
              variant={day === of() ? 'light' : 'default'}
              aria-pressed={day === of()}
              onClick={() => set({ day: of() })}
            >
              {label}
            </Button>
          ))}
          <TextInput
            ref={dayInput}
            type="date"
            size="xs"
            aria-label={words.otherDate}
            min={dayIn(0)}
            max={latestDay()}
            error={fault !== null}
            value={day}
            onChange={({ currentTarget }) => set({ day: currentTarget.value })}
          />
        </Group>
      </Input.Wrapper>
      <Textarea
        label={words.note}
        description={words.noteHint}
        maxRows={6}
        maxLength={MOST_LETTERS}
        value={note}
        onChange={({ currentTarget }) => set({ note: currentTarget.value })}
      />
      <Hint>{words.stopsClock}</Hint>
    </FormDialog>
  );
};

const presentValues = ([item, ...others]: readonly AnyReturn[]): Values => {
  const waiting = others.length === 0 ? item?.waitingFor : null;
  return {
    what: waiting?.what ?? 'PART',
    day: waiting?.until ? dayOf(new Date(waiting.until)) : '',
    note: waiting?.note ?? '',
  };
};

/** One that cannot be saved keeps the dialog open; of many, those that failed are listed. */
const useSaving = (kind: Kind, items: readonly AnyReturn[], onDone: () => void) => {
  const queryClient = useQueryClient();
  return useMutation({
    mutationFn: async (waiting: Waiting) => {
      const [only, ...others] = items;
      if (only && others.length === 0) {
        const result = await setWaiting(kind, only, waiting);
        queryClient.setQueryData(detailQuery(kind, only.id).queryKey, result);
        notifyDone(words.saved(only.rmaNumber));
        return;
      }
      const outcomes = await runForEach(items, (item) => setWaiting(kind, item, waiting));
      const failed = outcomes.filter(({ error }) => error !== null);
      if (failed.length > 0) showResult(kind, words.menu, failed, outcomes.length, items.length);
      else notifyDone(words.saved(countOf(items.length, kind)));
    },
    onSuccess: onDone,
    onSettled: () => refetchReturns(queryClient, kind),
  });
};
