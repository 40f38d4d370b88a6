import { Alert, Modal, Text } from '@mantine/core';
import type { AnyReturn, Kind } from '../kinds.ts';
import { MoveForm } from './move-form.tsx';
import type { MoveBody, StaffMove } from './moves.ts';

interface Props<Item> {
  kind: Kind;
  item: Item;
  move: StaffMove<Item>;
  onSend(body: MoveBody): Promise<unknown>;
  onClose(): void;
}

/** Asks for a move's fields, with a warning where there is one. */
export const MoveDialog = <Item extends AnyReturn>(props: Props<Item>) => {
  const { kind, item, move, onSend, onClose } = props;
  const warning = move.warning(item);
  return (
    <Modal
      opened
      onClose={onClose}
      title={`${move.label}: ${item.rmaNumber}`}
      closeButtonProps={{ 'aria-label': 'Close the dialog' }}
    >
      <MoveForm
        kind={kind}
        move={move}
        initialValues={move.initialValues(item)}
        onSend={onSend}
        onCancel={onClose}
      >
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
