import { Combobox, Select, type SelectProps, useCombobox } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { api } from '../api.ts';
import { useSession } from '../session/session.ts';
import { texts } from '../texts.ts';
import { notifyDone, notifyFailed } from '../ui/notify.ts';
import styles from './assignee.module.css';
import { type AnyReturn, countOf, type Kind } from './kinds.ts';
import { runForEach, showResult } from './moves/bulk-dialog.tsx';
import { peopleQuery, refetchReturns } from './queries.ts';

const words = texts.moves;

/** The library has no empty value to choose. */
const UNASSIGNED = 'none';

interface Person {
  value: string;
  label: string;
  /** Where it is not the label. */
  name?: string;
}

/** The people of the team, oneself first, then no one. */
const usePeople = (): Person[] => {
  const { data } = useQuery(peopleQuery);
  const { user } = useSession();
  // Enter would unassign while no one else is there to choose.
  if (!data) return [];
  const people = data.items;
  const isMe = ({ id }: { id: string }) => id === user.id;
  return [
    ...people.filter(isMe).map(({ id, name }) => ({ value: id, label: words.me(name), name })),
    { value: UNASSIGNED, label: words.unassigned },
    ...people
      .filter((person) => !isMe(person))
      .map(({ id, name, email }) => ({
        value: id,
        // Two people may have one name.
        label: people.filter((other) => other.name === name).length > 1 ? `${name} (${email})` : name,
      })),
  ];
};

interface Props extends Omit<SelectProps, 'data' | 'value' | 'onChange'> {
  /** The id of a person, `none`, or null where nothing is chosen. */
  value: string | null;
  onChange(value: string): void;
}

/** Chooses a person of the team, oneself first, or none. Part of the name finds them. */
export const PersonSelect = ({ value, onChange, ...rest }: Props) => (
  <Select
    searchable
    allowDeselect={false}
    nothingFoundMessage={words.noSuchPerson}
    maxDropdownHeight={260}
    data={usePeople()}
    value={value}
    onChange={(chosen) => chosen !== null && onChange(chosen)}
    {...rest}
  />
);

/** Assigns a return to a person by their id, or to no one with `none`. */
export const assign = (kind: Kind, id: string, person: string): Promise<AnyReturn> =>
  api.post<AnyReturn>(`${kind.path}/${id}/assign`, { assigneeId: person === UNASSIGNED ? null : person });

interface AssignPopoverProps {
  kind: Kind;
  items: readonly AnyReturn[];
  onClose(): void;
}

/**
 * The choice of a person, below the element around it, which needs `position: relative`: typing filters, Enter chooses, Escape closes.
 * It assigns one return or many; a toast tells of many, and of failures.
 */
export const AssignPopover = ({ kind, items, onClose }: AssignPopoverProps) => {
  const [typed, setTyped] = useState('');
  const assigning = useAssigning(kind, items);
  const combobox = useCombobox({ opened: true, onDropdownClose: onClose });
  const people = usePeople();
  const shown = people.filter(({ label }) => label.toLowerCase().includes(typed.trim().toLowerCase()));
  const [only] = items;
  const current = items.length === 1 ? (only?.assignee?.id ?? UNASSIGNED) : null;
  const { selectFirstOption } = combobox;
  // biome-ignore lint/correctness/useExhaustiveDependencies: another text has another first person
  useEffect(() => void selectFirstOption(), [typed, shown.length]);
  return (
    <Combobox
      store={combobox}
      width={260}
      position="bottom-start"
      onOptionSubmit={(person) => {
        const chosen = shown.find(({ value }) => value === person);
        onClose();
        if (chosen && person !== current) assigning.mutate(chosen);
      }}
    >
      <Combobox.Target withAriaAttributes={false} withKeyboardNavigation={false}>
        {/* Above the button that opened it, which it closes. */}
        <span className={styles['anchor']} onPointerDown={onClose} />
      </Combobox.Target>
      <Combobox.Dropdown>
        <div role="dialog" aria-label={words.assignTo}>
          <Combobox.Search
            autoFocus
            aria-label={words.assignTo}
            placeholder={words.typeName}
            value={typed}
            onChange={({ currentTarget }) => setTyped(currentTarget.value)}
          />
          <Combobox.Options mah={260} style={{ overflowY: 'auto' }} aria-label={words.assignTo}>
            {shown.map(({ value, label }) => (
              <Combobox.Option key={value} value={value} active={value === current}>
                {label}
              </Combobox.Option>
            ))}
            {shown.length === 0 ? (
              <Combobox.Empty>
                {people.length === 0 ? texts.common.loading : words.noSuchPerson}
              </Combobox.Empty>
            ) : null}
          </Combobox.Options>
        </div>
      </Combobox.Dropdown>
    </Combobox>
  );
};

const useAssigning = (kind: Kind, items: readonly AnyReturn[]) => {
  const queryClient = useQueryClient();
  return useMutation({
    mutationFn: ({ value }: Person) => runForEach(items, ({ id }) => assign(kind, id, value)),
    onSuccess: (outcomes, { value, label, name = label }) => {
      const [first, ...others] = outcomes;
      const failed = outcomes.filter(({ error }) => error !== null);
      if (first && others.length === 0 && first.error !== null)
        notifyFailed(words.notAssigned(first.item.rmaNumber), first.error);
      else if (failed.length > 0) showResult(kind, words.assign, failed, outcomes.length, items.length);
      else if (others.length > 0)
        notifyDone(words.assigned(countOf(items.length, kind), value === UNASSIGNED ? null : name));
    },
    onSettled: () => refetchReturns(queryClient, kind),
  });
};
