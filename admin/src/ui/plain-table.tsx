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
  keyOf: (row: Row, index: number) => Key;
  caption?: ReactNode;
  className?: string | undefined;
  headClassName?: string | undefined;
  rowProps?: (row: Row) => HTMLAttributes<HTMLTableRowElement>;
  footer?: ReactNode;
  /** Where the table has little room, the first cell of a row has the whole width, and the others stand below it with their headers. */
  stacked?: boolean;
}

const keyOfColumn = <Row,>({ key, header }: PlainColumn<Row>): string => key ?? String(header);

/** A table of the page's own, small enough for its first load. */
export const PlainTable = <Row,>(props: Props<Row>) => {
  const { columns, rows, keyOf, caption, className = '', headClassName, rowProps, footer, stacked } = props;
  const table = (
    <table className={`${styles['table']} ${stacked ? styles['stacked'] : ''} ${className}`}>
      {caption === undefined ? null : (
        <caption className={styles['caption']}>
          <VisuallyHidden>{caption}</VisuallyHidden>
        </caption>
      )}
      <thead className={headClassName}>
        <tr>
          {columns.map((column) => (
            <th key={keyOfColumn(column)} scope="col" className={column.className} {...column.head}>
              {column.header}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((row, index) => (
          <tr key={keyOf(row, index)} {...rowProps?.(row)}>
            {columns.map((column) =>
              column.isName ? (
                <th key={keyOfColumn(column)} scope="row" className={column.className}>
                  {column.cell(row)}
                </th>
              ) : (
                <td
                  key={keyOfColumn(column)}
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

/** Shown only where the screen has no room for the columns that are `wide-only`. */
export const NarrowOnly = ({ children }: { children: ReactNode }) => (
  <div className={styles['narrow-only']} style={{ whiteSpace: 'nowrap' }}>
    {children}
  </div>
);

export const TableFrame = ({ children }: { children: ReactNode }) => (
  <div className={styles['frame']}>{children}</div>
);
