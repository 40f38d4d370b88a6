import { Alert, Modal, Text } from '@mantine/core';
import type { AnyReturn, Kind } from '../kinds.ts';
import { ConflictAlert } from './conflict-alert.tsx';
import { MoveForm } from './move-form.tsx';
import type { StaffMove } from './moves.ts';
import { useStaffMove } from './use-staff-move.ts';

interface Props<Item> {
  kind: Kind;
  /** As it stands now, also while the dialog is open. */
  item: Item;
  move: StaffMove<Item>;
  onClose(): void;
}

/** Asks for a move's fields, with a warning where there is one. Only Cancel throws away what was typed. */
export const MoveDialog = <Item extends AnyReturn>({ kind, item, move, onClose }: Props<Item>) => {
  const { stored, conflict, send, keep, closeForNow, cancel, forget } = useStaffMove(
    kind,
    item,
    move,
    onClose,
  );
  const warning = conflict?.isOver ? null : move.warning(item);
  return (
    <Modal
      opened
      onClose={closeForNow}
      closeOnClickOutside={false}
      title={`${move.label}: ${item.rmaNumber}`}
      closeButtonProps={{ 'aria-label': 'Close the dialog' }}
    >
      <MoveForm
        kind={kind}
        move={move}
        initialValues={move.initialValues(item)}
        draft={{ stored, keep, forget }}
        conflict={conflict}
        onSend={send}
        onCancel={conflict ? closeForNow : cancel}
      >
        {conflict ? <ConflictAlert kind={kind} conflict={conflict} label={move.label} /> : null}
        {warning ? <Alert color="orange">{warning}</Alert> : null}
        {move.fields.length === 0 ? (
          <Text size="sm">
            {move.label} this {kind.one}?
          </Text>
        ) : null}
      </MoveForm>
    </Modal>
  );
};
