import '@mantine/core/styles/Table.css';
import { Button, Collapse, Table, VisuallyHidden } from '@mantine/core';
import { ChevronDown, ChevronUp } from 'lucide-react';
import { type ReactNode, useId, useState } from 'react';
import { texts } from '../texts.ts';
import styles from './data-table.module.css';

export interface Column<Row> {
  header: string;
  cell: (row: Row) => ReactNode;
  width?: string | number;
  noWrap?: boolean;
}

interface Props<Row> {
  caption: string;
  /** The first one names the row. */
  columns: readonly [Column<Row>, ...Column<Row>[]];
  rows: readonly Row[];
  /** Names the row in the labels of its buttons. */
  nameOf: (row: Row) => string;
  actions?: (row: Row) => ReactNode;
  /** Shown below a row when its button is clicked; null for a row without details. */
  details?: (row: Row) => ReactNode | null;
}

/** A table that becomes a list of cards on a narrow screen. */
export const DataTable = <Row extends { id: string }>(props: Props<Row>) => {
  const { caption, columns, rows, actions, details } = props;
  return (
    <div className={styles['frame']}>
      {/* Browsers drop the roles of a table that is laid out as cards, so they are set here. */}
      <Table className={styles['table']} verticalSpacing="xs" role="table">
        <caption>
          <VisuallyHidden>{caption}</VisuallyHidden>
        </caption>
        <Table.Thead role="rowgroup">
          <Table.Tr role="row">
            {columns.map(({ header, width, noWrap }) => (
              <Table.Th
                key={header}
                scope="col"
                role="columnheader"
                w={width}
                style={noWrap ? { whiteSpace: 'nowrap' } : {}}
              >
                {header}
              </Table.Th>
            ))}
            {actions || details ? (
              <Table.Th scope="col" role="columnheader" w={1}>
                <VisuallyHidden>{actions ? texts.common.actions : texts.common.details}</VisuallyHidden>
              </Table.Th>
            ) : null}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody role="rowgroup">
          {rows.map((row) => (
            <DataRow key={row.id} {...props} row={row} />
          ))}
        </Table.Tbody>
      </Table>
    </div>
  );
};

const DataRow = <Row extends { id: string }>(props: Props<Row> & { row: Row }) => {
  const {
    row,
    columns: [first, ...others],
    nameOf,
    actions,
    details,
  } = props;
  const [opened, setOpened] = useState(false);
  const id = useId();
  const more = details?.(row) ?? null;
  return (
    <>
      <Table.Tr className={styles['row']} role="row" style={opened ? { borderBottom: 0 } : {}}>
        <Table.Th className={styles['cell']} scope="row" role="rowheader">
          {first.cell(row)}
        </Table.Th>
        {others.map(({ header, cell, noWrap }) => (
          <Table.Td
            key={header}
            className={styles['cell']}
            role="cell"
            data-label={header}
            data-no-wrap={noWrap}
          >
            <div>{cell(row)}</div>
          </Table.Td>
        ))}
        {actions || details ? (
          <Table.Td className={`${styles['cell']} ${styles['actions']}`} role="cell">
            {actions?.(row)}
            {more === null ? null : (
              <Button
                variant="subtle"
                color="gray"
                size="compact-sm"
                aria-expanded={opened}
                aria-controls={id}
                onClick={() => setOpened(!opened)}
                rightSection={opened ? <ChevronUp size={14} /> : <ChevronDown size={14} />}
              >
                {texts.common.details}
                <VisuallyHidden> {texts.common.ofRow(nameOf(row))}</VisuallyHidden>
              </Button>
            )}
          </Table.Td>
        ) : null}
      </Table.Tr>
      {more === null ? null : (
        <Table.Tr role="row" id={id} hidden={!opened} className={opened ? styles['row'] : undefined}>
          <Table.Td role="cell" colSpan={others.length + 2} pt={0}>
            <Collapse expanded={opened}>{opened ? more : null}</Collapse>
          </Table.Td>
        </Table.Tr>
      )}
    </>
  );
};
