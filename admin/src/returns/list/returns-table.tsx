import { Checkbox, Paper, UnstyledButton, VisuallyHidden } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { ArrowDown, ArrowUp, ChevronsUpDown } from 'lucide-react';
import type { ChangeEvent, MouseEvent, ReactNode, ThHTMLAttributes } from 'react';
import type { ReturnSort } from '../../../../contract/return-order.ts';
import { APP_PATH } from '../../api.ts';
import { texts } from '../../texts.ts';
import { TextLink } from '../../ui/links.tsx';
import { useNow } from '../../ui/now.ts';
import { columnClass } from '../../ui/plain-table.tsx';
import { RelativeTimeAndDate } from '../../ui/relative-time.tsx';
import { Assignee, DueCell, StatusBadge } from '../badges.tsx';
import { type AnyReturn, isPartlyReceived, type Kind } from '../kinds.ts';
import { groupsOf, type ListOrder, ORDER_LABELS, orderAfterClick } from './list-order.ts';
import type { Density } from './list-toolbar.tsx';
import styles from './returns-table.module.css';

const { columns: headers } = texts.list;

/** A column between the status and the due time, which every list has. */
export interface ReturnColumn<Item> {
  header: string;
  cell(item: Item): ReactNode;
  width?: string;
  /** The table shows it only on screens from 1152, from 1408 or from 1600 pixels on. */
  wideOnly?: 'roomy' | 'wide' | 'widest';
  isNumber?: boolean;
  /** Its second text has a share of the line, however long the first one is. */
  isShared?: boolean;
  /** A line of the card on a narrow screen, with what the table has in other columns. */
  inCard?: boolean;
  cardCell?(item: Item): ReactNode;
  /** After the assignee. */
  isLast?: boolean;
}

interface Props<Item> {
  kind: Kind;
  columns: readonly ReturnColumn<Item>[];
  items: readonly Item[];
  density: Density;
  /** The preview shows all of a row then. */
  isPreviewed: boolean;
  isSelected(id: string): boolean;
  /** With `range` also all rows since the one before. */
  select(items: readonly Item[], on: boolean, range?: boolean): void;
  onAssign(item: Item): void;
  assigning: string | null;
  assignPopover(item: Item): ReactNode;
  /** The row that has the focus, or had it last. */
  onCursor(id: string): void;
  order: ListOrder;
  onOrder(order: ListOrder): void;
}

const withShift = ({ nativeEvent }: ChangeEvent): boolean =>
  'shiftKey' in nativeEvent && nativeEvent.shiftKey === true;

const useRows = <Item extends AnyReturn>(props: Props<Item>) => {
  const { kind, items, isSelected, select, onAssign, assigning, assignPopover, onCursor } = props;
  const open = useOpenRow(kind);
  const count = items.filter(({ id }) => isSelected(id)).length;
  return {
    selectAll: (
      <Checkbox
        size="xs"
        aria-label={texts.list.selectAll}
        checked={count === items.length}
        indeterminate={count > 0 && count < items.length}
        onChange={({ currentTarget }) => select(items, currentTarget.checked)}
      />
    ),
    selectOne: (item: Item) => (
      <Checkbox
        size="xs"
        aria-label={texts.list.select(item.rmaNumber)}
        checked={isSelected(item.id)}
        onChange={(event) => select([item], event.currentTarget.checked, withShift(event))}
      />
    ),
    link: ({ id, rmaNumber }: Item) => (
      <TextLink to={kind.detail} params={{ id }} className={styles['link'] ?? ''} preload={false}>
        {rmaNumber}
      </TextLink>
    ),
    assignee: (item: Item) =>
      item.erasedAt === null ? (
        <span className={styles['assigning']}>
          <UnstyledButton className={styles['assignee']} onClick={() => onAssign(item)}>
            <Assignee person={item.assignee} />
            <VisuallyHidden>{texts.list.assignOf(item.rmaNumber)}</VisuallyHidden>
          </UnstyledButton>
          {assigning === item.id ? assignPopover(item) : null}
        </span>
      ) : (
        <Assignee person={item.assignee} />
      ),
    /** The keyboard uses the link inside. */
    rowProps: (item: Item) => ({
      className: styles['row'] ?? '',
      'data-return': item.id,
      'data-selected': isSelected(item.id) || undefined,
      'data-assigning': assigning === item.id || undefined,
      onFocus: () => onCursor(item.id),
      onClick: (event: MouseEvent<HTMLElement>) => open(event, item),
    }),
  };
};

const INTERACTIVE = 'a, button, input, label, select, [role="button"]';

/** A click on a row opens its return, unless it was on a control or selected a text. */
const useOpenRow = (kind: Kind) => {
  const navigate = useNavigate();
  return (event: MouseEvent<HTMLElement>, item: AnyReturn): void => {
    const target = event.target as Element;
    // What a popover of the row hears comes by here too.
    if (!event.currentTarget.contains(target) || target.closest(INTERACTIVE)) return;
    if (isSelecting(event.currentTarget)) return;
    if (event.ctrlKey || event.metaKey)
      window.open(`${APP_PATH}${kind.path}/${item.id}`, '_blank', 'noopener');
    else void navigate({ to: kind.detail, params: { id: item.id } });
  };
};

const isSelecting = (row: HTMLElement): boolean => {
  const selection = window.getSelection();
  return selection !== null && !selection.isCollapsed && selection.containsNode(row, true);
};

/** Room for the longest number in any font: the header's figures are smaller than the rows', and cells have a margin. */
const numberWidth = (items: readonly AnyReturn[]): string =>
  `calc(${Math.max(...items.map(({ rmaNumber }) => rmaNumber.length))}ch + 1.25rem)`;

interface Column<Item> {
  key: string;
  header: ReactNode;
  cell(item: Item): ReactNode;
  className?: string | undefined;
  head?: ThHTMLAttributes<HTMLTableCellElement>;
}

const useColumns = <Item extends AnyReturn>(props: Props<Item>, rows: ReturnType<typeof useRows<Item>>) => {
  const { columns, items, order, onOrder } = props;
  const sortable = (sort: ReturnSort, label: string, width: string) => ({
    key: label,
    header: <SortButton sort={sort} label={label} order={order} onOrder={onOrder} />,
    head: {
      style: { width },
      ...(order.sort === sort ? { 'aria-sort': ARIA_SORT[order.order] } : {}),
    },
  });
  const own = ({ header, cell, width, ...is }: ReturnColumn<Item>): Column<Item> => {
    const classes = [
      is.isNumber && `${columnClass('number')} ${styles['only-first']}`,
      is.isShared && styles['shared'],
      is.wideOnly && styles[`${is.wideOnly}-only`],
    ];
    return {
      key: header,
      header,
      cell,
      className: classes.filter(Boolean).join(' '),
      head: width ? { style: { width } } : {},
    };
  };
  const all: Column<Item>[] = [
    { key: 'select', header: rows.selectAll, cell: rows.selectOne, className: styles['checkbox'] },
    {
      ...sortable('number', headers.number, numberWidth(items)),
      cell: rows.link,
    },
    {
      ...sortable('status', headers.status, '9.25rem'),
      cell: (item) => <StatusBadge status={item.status} isPartly={isPartlyReceived(item)} />,
    },
    ...columns.filter(({ isLast }) => !isLast).map(own),
    { ...sortable('dueAt', headers.due, '9.75rem'), cell: (item) => <DueCell {...item} /> },
    { key: 'assignee', header: headers.assignee, cell: rows.assignee, head: { style: { width: '7.5rem' } } },
    ...columns.filter(({ isLast }) => isLast).map(own),
    {
      ...sortable('updatedAt', headers.lastChange, '8rem'),
      cell: ({ updatedAt }) => <RelativeTimeAndDate at={updatedAt} />,
      className: styles['widest-only'],
    },
  ];
  return all;
};

export const ReturnsTable = <Item extends AnyReturn>(props: Props<Item>) => {
  const { kind, items, density, order } = props;
  const rows = useRows(props);
  const now = useNow();
  const [first, name, ...others] = useColumns(props, rows);
  if (!first || !name) return null;
  const columns = [first, name, ...others];
  const line = density === 'compact' ? styles['one-line'] : '';
  const hidden = props.columns.filter(({ wideOnly }) => wideOnly).length + 1;
  return (
    <Paper className={styles['frame'] ?? ''}>
      <table
        className={`${columnClass('table')} ${styles['table']}`}
        data-density={density}
        data-previewed={props.isPreviewed || undefined}
      >
        <caption className={columnClass('caption')}>
          <VisuallyHidden>
            {texts.list.caption(kind.title, ORDER_LABELS[order.sort][order.order])}
          </VisuallyHidden>
        </caption>
        <thead className={styles['head']}>
          <tr>
            {columns.map(({ key, header, className, head }) => (
              <th key={key} scope="col" className={className} {...head}>
                {header}
              </th>
            ))}
          </tr>
        </thead>
        {groupsOf(items, order, now).map(([group, grouped]) => (
          <tbody key={group}>
            {group === null ? null : (
              <tr className={styles['group']} data-group={group}>
                {/* Not over columns that narrower screens hide. */}
                <th colSpan={columns.length - hidden} scope="rowgroup">
                  {texts.list.groups[group]}
                </th>
              </tr>
            )}
            {grouped.map((item) => (
              <tr key={item.id} {...rows.rowProps(item)}>
                <td className={first.className}>{first.cell(item)}</td>
                <th scope="row">{name.cell(item)}</th>
                {others.map(({ key, cell, className }) => (
                  <td key={key} className={`${className ?? ''} ${line}`}>
                    {cell(item)}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        ))}
      </table>
    </Paper>
  );
};

const ARIA_SORT = { asc: 'ascending', desc: 'descending' } as const;

interface SortProps extends Pick<Props<never>, 'order' | 'onOrder'> {
  sort: ReturnSort;
  label: string;
}

const SortButton = ({ sort, label, order, onOrder }: SortProps) => {
  const direction = order.sort === sort ? order.order : null;
  const Icon = direction === null ? ChevronsUpDown : direction === 'asc' ? ArrowUp : ArrowDown;
  return (
    <UnstyledButton
      className={styles['header']}
      data-ordered={direction ?? undefined}
      onClick={() => onOrder(orderAfterClick(order, sort))}
    >
      {label}
      <Icon size={14} />
    </UnstyledButton>
  );
};

/** Three lines each, so that a phone shows five or more. */
export const ReturnsCards = <Item extends AnyReturn>(props: Props<Item>) => {
  const { columns, items, order } = props;
  const { selectOne, link, assignee, rowProps } = useRows(props);
  const lines = columns.filter(({ inCard }) => inCard);
  const now = useNow();
  return groupsOf(items, order, now).map(([group, grouped]) => (
    <section key={group} aria-label={group ? texts.list.groups[group] : undefined}>
      {group ? <p className={styles['card-group']}>{texts.list.groups[group]}</p> : null}
      <ul className={styles['cards']}>
        {grouped.map((item) => (
          <li key={item.id} {...rowProps(item)}>
            <div className={`${styles['card-line']} ${styles['card-head']}`}>
              {selectOne(item)}
              {link(item)}
              <StatusBadge status={item.status} isPartly={isPartlyReceived(item)} />
              <span className={styles['card-end']}>
                <DueCell {...item} />
              </span>
            </div>
            {lines.map(({ header, cell, cardCell = cell }, index) => (
              <div
                key={header}
                className={`${styles['card-line']} ${styles['one-line']} ${styles['shared']}`}
              >
                {cardCell(item)}
                {index === lines.length - 1 ? (
                  <span className={styles['card-end']}>{assignee(item)}</span>
                ) : null}
              </div>
            ))}
          </li>
        ))}
      </ul>
    </section>
  ));
};
