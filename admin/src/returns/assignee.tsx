import type { Assignee as Person } from '../../../contract/admin-returns.ts';
import styles from './assignee.module.css';

/** The first letters of the first and the last word of a name. */
const initialsOf = (name: string): string => {
  const words = name.split(/[\s._-]+/u).filter((word) => /^[\p{L}\p{N}]/u.test(word));
  const chosen = words.length > 1 ? [words[0], words.at(-1)] : words;
  return chosen.map((word) => [...(word ?? '')][0]?.toUpperCase() ?? '').join('');
};

/** Who works on a return: a mark and the name. */
export const Assignee = ({ person }: { person: Person | null }) =>
  person === null ? (
    <span className={styles['unassigned']}>Unassigned</span>
  ) : (
    <span className={styles['person']} title={person.name}>
      <span className={styles['mark']} data-initials={initialsOf(person.name)} aria-hidden />
      <bdi className={styles['name']}>{person.name}</bdi>
    </span>
  );
