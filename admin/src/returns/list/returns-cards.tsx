import { Card, Group, Stack, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { RelativeTime } from '../../ui/relative-time.tsx';
import type { AnyReturn } from '../kinds.ts';
import { StatusBadge } from '../status-badge.tsx';
import { openOnClick, ReturnLink, type RowsProps, SelectAll, SelectOne } from './returns-rows.tsx';
import styles from './returns-table.module.css';

/** For narrow screens. */
export const ReturnsCards = <Item extends AnyReturn>(props: RowsProps<Item> & { orderSelect: ReactNode }) => {
  const { kind, columns, items, isSelected, select } = props;
  return (
    <Stack gap="xs">
      <Group justify="space-between" gap="xs">
        <SelectAll {...props} label="Select all on this page" />
        {props.orderSelect}
      </Group>
      <Stack gap="xs" component="ul" className={styles['cards']}>
        {items.map((item) => (
          <Card
            key={item.id}
            component="li"
            withBorder
            padding="sm"
            className={styles['row']}
            data-selected={isSelected(item.id) || undefined}
            onClick={openOnClick}
          >
            <Group gap="sm" wrap="nowrap" mb={6}>
              <div className={styles['above']}>
                <SelectOne item={item} isSelected={isSelected} select={select} />
              </div>
              <ReturnLink kind={kind} item={item} />
              <StatusBadge status={item.status} ml="auto" />
            </Group>
            {columns.map(({ header, cell, noLabel }) =>
              noLabel ? (
                <div key={header}>{cell(item)}</div>
              ) : (
                <Group key={header} gap={6} align="baseline">
                  <Text size="sm" c="dimmed">
                    {header}
                  </Text>
                  {cell(item)}
                </Group>
              ),
            )}
            <Text size="sm" c="dimmed" className={styles['above']} w="fit-content">
              Created <RelativeTime at={item.createdAt} />
              {item.updatedAt === item.createdAt ? null : (
                <>
                  , changed <RelativeTime at={item.updatedAt} />
                </>
              )}
            </Text>
          </Card>
        ))}
      </Stack>
    </Stack>
  );
};
