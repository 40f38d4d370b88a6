import { Plus } from 'lucide-react';
import { useBlocked } from '../../session/blocked.ts';
import { BlockableButton } from '../../ui/blockable-button.tsx';
import { ButtonLink } from '../../ui/links.tsx';
import type { Kind } from '../kinds.ts';

const icon = <Plus size={16} aria-hidden />;

/** Leads to the form of a new return, unless the shop can make none now. */
export const NewReturnLink = ({ kind, label = `New ${kind.one}` }: { kind: Kind; label?: string }) => {
  const { creating } = useBlocked();
  return creating === null ? (
    <ButtonLink to={kind.add} leftSection={icon}>
      {label}
    </ButtonLink>
  ) : (
    <BlockableButton blocked={creating} leftSection={icon}>
      {label}
    </BlockableButton>
  );
};
