import { Radio, Stack } from '@mantine/core';
import { USER_ROLES } from '../../../contract/admin-people.ts';
import { ROLE_LABELS } from '../session/session.ts';

export const RoleInput = ({ value, ...input }: { value?: string; onChange?: (value: string) => void }) => (
  <Radio.Group label="Role" value={value ?? null} {...input}>
    <Stack gap="xs" mt={6}>
      {USER_ROLES.map((role) => (
        <Radio
          key={role}
          value={role}
          label={ROLE_LABELS[role].name}
          description={ROLE_LABELS[role].description}
        />
      ))}
    </Stack>
  </Radio.Group>
);
