import { VisuallyHidden } from '@mantine/core';
import type { HTMLAttributes, Key, ReactNode, ThHTMLAttributes } from 'react';
import styles from './plain-table.module.css';

export interface PlainColumn<Row> {
  header: ReactNode;
  key?: string;
  cell: (row: Row) => ReactNode;
  isName?: boolean;
  className?: string | undefined;
  head?: ThHTMLAttributes<HTMLTableCellElement>;
}

interface Props<Row> {
  columns: readonly PlainColumn<Row>[];
  rows: readonly Row[];
  keyOf: (row: Row) => Key;
  caption?: ReactNode;
  className?: string | undefined;
  rowProps?: (row: Row) => HTMLAttributes<HTMLTableRowElement>;
  footer?: ReactNode;
  /** Where the table has little room, the first cell of a row has the whole width, and the others stand below it with their headers. */
  stacked?: boolean;
}

const keyOfColumn = <Row,>({ key, header }: PlainColumn<Row>): string => key ?? String(header);

/** A table of the page's own, small enough for its first load. */
export const PlainTable = <Row,>(props: Props<Row>) => {
  const { columns, rows, keyOf, caption, className = '', rowProps, footer, stacked } = props;
  // Rows that are no longer laid out as a table are none to some browsers, unless they say so.
  const is = (role: string) => (stacked ? { role } : null);
  const table = (
    <table {...is('table')} className={`${styles['table']} ${stacked ? styles['stacked'] : ''} ${className}`}>
      {caption === undefined ? null : (
        <caption className={styles['caption']}>
          <VisuallyHidden>{caption}</VisuallyHidden>
        </caption>
      )}
      <thead {...is('rowgroup')}>
        <tr {...is('row')}>
          {columns.map((column) => (
            <th
              key={keyOfColumn(column)}
              {...is('columnheader')}
              scope="col"
              className={column.className}
              {...column.head}
            >
              {column.header}
            </th>
          ))}
        </tr>
      </thead>
      <tbody {...is('rowgroup')}>
        {rows.map((row) => (
          <tr key={keyOf(row)} {...is('row')} {...rowProps?.(row)}>
            {columns.map((column) =>
              column.isName ? (
                <th key={keyOfColumn(column)} {...is('rowheader')} scope="row" className={column.className}>
                  {column.cell(row)}
                </th>
              ) : (
                <td
                  key={keyOfColumn(column)}
                  {...is('cell')}
                  className={column.className}
                  data-label={stacked ? keyOfColumn(column) : undefined}
                >
                  {column.cell(row)}
                </td>
              ),
            )}
          </tr>
        ))}
      </tbody>
      {footer}
    </table>
  );
  return stacked ? <div className={styles['stack-frame']}>{table}</div> : table;
};

export const columnClass = (...names: string[]): string => names.map((name) => styles[name]).join(' ');

export const TableFrame = ({ children }: { children: ReactNode }) => (
  <div className={styles['frame']}>{children}</div>
);
