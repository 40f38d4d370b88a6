import '@mantine/core/styles/Menu.css';
import { ActionIcon, Button, Menu } from '@mantine/core';
import { ChevronDown, Ellipsis } from 'lucide-react';
import { Fragment, type KeyboardEvent, type ReactNode, useState } from 'react';
import { texts } from '../texts.ts';

export interface MenuAction {
  label: string;
  icon?: ReactNode;
  dangerous?: boolean;
  /** Why it cannot be done; null where it can. */
  blocked?: string | null;
  run(): void;
}

interface Props {
  /** With a divider between them; empty ones are skipped. */
  groups: readonly (readonly MenuAction[])[];
  /** Of a row, at whose end the menu is a small icon. */
  rowName?: string;
}

export const ActionMenu = ({ groups, rowName }: Props) => {
  const [opened, setOpened] = useState(false);
  const onKeyDown = ({ key }: KeyboardEvent) => {
    if (key === 'ArrowDown') setOpened(true);
  };
  const filled = groups.filter((group) => group.length > 0);
  return (
    <Menu
      opened={opened}
      onChange={setOpened}
      position="bottom-end"
      // In its place on the page, where it belongs to a landmark.
      withinPortal={false}
      // The first item has the focus instead, so that all keys of a menu work at once.
      withInitialFocusPlaceholder={false}
    >
      <Menu.Target>
        {rowName === undefined ? (
          <Button variant="default" rightSection={<ChevronDown />} onKeyDown={onKeyDown}>
            {texts.common.more}
          </Button>
        ) : (
          <ActionIcon
            variant="default"
            size={30}
            aria-label={texts.common.moreFor(rowName)}
            onKeyDown={onKeyDown}
          >
            <Ellipsis />
          </ActionIcon>
        )}
      </Menu.Target>
      <Menu.Dropdown>
        {filled.map((group, at) => (
          <Fragment key={group[0]?.label}>
            {at > 0 ? <Menu.Divider /> : null}
            {group.map((action, index) => (
              <Item key={action.label} {...action} isFirst={at + index === 0} />
            ))}
          </Fragment>
        ))}
      </Menu.Dropdown>
    </Menu>
  );
};

/** A blocked one keeps its place in the order of the keyboard, so that its reason can be read. */
const Item = ({ isFirst, blocked = null, ...action }: MenuAction & { isFirst: boolean }) => (
  <Menu.Item
    leftSection={action.icon}
    data-autofocus={isFirst || undefined}
    {...(action.dangerous ? { c: 'var(--mantine-color-error)' } : {})}
    {...(blocked === null
      ? { onClick: action.run }
      : { 'aria-disabled': true, title: blocked, opacity: 0.6, closeMenuOnClick: false })}
  >
    {action.label}
  </Menu.Item>
);
