import { Select, type SelectProps } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useSession } from '../session/session.ts';
import { peopleQuery } from './people-query.ts';

/** Mantine has no empty value to choose. */
export const NOBODY = 'none';

interface Props extends Omit<SelectProps, 'data' | 'value' | 'onChange'> {
  /** The id of a person, `none`, or null where nothing is chosen. */
  value: string | null;
  onChange(value: string): void;
}

/** Chooses somebody of the team, oneself first, or nobody. Part of the name or the e-mail finds them. */
export const PersonSelect = ({ value, onChange, ...rest }: Props) => {
  const { data } = useQuery(peopleQuery);
  const { user } = useSession();
  const people = data?.items ?? [];
  const isMe = ({ id }: { id: string }) => id === user.id;
  const options = [
    ...people.filter(isMe).map(({ id, name }) => ({ value: id, label: `${name} (me)` })),
    { value: NOBODY, label: 'Unassigned' },
    ...people
      .filter((person) => !isMe(person))
      .map(({ id, name, email }) => ({
        value: id,
        // Two people may have one name.
        label: people.filter((other) => other.name === name).length > 1 ? `${name} (${email})` : name,
      })),
  ];
  return (
    <Select
      searchable
      allowDeselect={false}
      nothingFoundMessage="Nobody by that name"
      maxDropdownHeight={260}
      data={options}
      value={value}
      onChange={(chosen) => chosen !== null && onChange(chosen)}
      {...rest}
    />
  );
};
