import { Badge, Button, Stack, Text } from '@mantine/core';
import { queryOptions, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type { z } from 'zod';
import type { FormerEmployee, FormerEmployeeList } from '../../../contract/personal-data.ts';
import { api } from '../api.ts';
import { DataTable } from '../ui/data-table.tsx';
import { useApiForm } from '../ui/forms/api-form.ts';
import { FormDialog } from '../ui/forms/form-dialog.tsx';
import { notifyDone } from '../ui/notify.ts';
import { PageFrame, Section } from '../ui/page-frame.tsx';
import { QueryView } from '../ui/query-view.tsx';
import { RelativeTime } from '../ui/relative-time.tsx';
import { BreakableEmail, Hint } from '../ui/two-lines.tsx';
import { AskingCustomer } from './customer.tsx';
import { Reason, ReasonInput } from './erase-dialog.tsx';
import { ForgetByItself } from './forgetting.tsx';

export const PersonalDataPage = () => (
  <PageFrame
    title="Personal data"
    intro="Find, export and erase what you store about customers and former employees."
  >
    <AskingCustomer />
    <ForgetByItself />
    <FormerEmployees />
  </PageFrame>
);

/** Erasing a name takes minutes in a large shop. */
const REFETCH_MS = 5_000;
const MOST_LISTED = 100;

const formerEmployeesQuery = queryOptions({
  queryKey: ['former-employees'],
  queryFn: () => api.get<z.infer<typeof FormerEmployeeList>>('/former-employees'),
  refetchInterval: ({ state }) => (state.data?.items.some(({ erasing }) => erasing) ? REFETCH_MS : false),
});

const FormerEmployees = () => {
  const employees = useQuery(formerEmployeesQuery);
  const [chosen, choose] = useState<FormerEmployee | null>(null);
  return (
    <Section title="A former employee">
      <Stack>
        <Text size="sm" maw="70ch">
          The names of people whom you removed from the team are still in timelines and in the audit log. If
          you erase a name, [erased] is shown in its place. What the person did stays.
        </Text>
        <QueryView query={employees}>
          {({ items }) =>
            items.length === 0 ? (
              <Hint>There is no former employee whose name is still stored.</Hint>
            ) : (
              <>
                <Employees items={items} onErase={choose} />
                {items.length === MOST_LISTED ? (
                  <Hint>These are the {MOST_LISTED} that were removed last.</Hint>
                ) : null}
              </>
            )
          }
        </QueryView>
      </Stack>
      {chosen ? <EraseNameDialog employee={chosen} onClose={() => choose(null)} /> : null}
    </Section>
  );
};

interface EmployeesProps {
  items: readonly FormerEmployee[];
  onErase(employee: FormerEmployee): void;
}

const Employees = ({ items, onErase }: EmployeesProps) => (
  <DataTable
    caption="Former employees, the last removed first"
    columns={[
      { header: 'E-mail', cell: ({ email }) => <BreakableEmail email={email} /> },
      { header: 'Removed', noWrap: true, cell: ({ removedAt }) => <RelativeTime at={removedAt} /> },
    ]}
    rows={items}
    nameOf={({ email }) => email}
    actions={(employee) =>
      employee.erasing ? (
        <Badge variant="light" color="gray">
          Is being erased
        </Badge>
      ) : (
        <Button
          size="xs"
          variant="default"
          aria-label={`Erase name… of ${employee.email}`}
          onClick={() => onErase(employee)}
        >
          Erase name…
        </Button>
      )
    }
  />
);

const EraseNameDialog = ({ employee, onClose }: { employee: FormerEmployee; onClose(): void }) => {
  const queryClient = useQueryClient();
  const { form, ...dialog } = useApiForm({
    schema: Reason,
    initialValues: { reason: '' },
    send: (body) => api.post<null>(`/former-employees/${employee.id}/erase`, body),
    onDone: () => {
      notifyDone('The name is being erased.');
      onClose();
      return queryClient.invalidateQueries({ queryKey: formerEmployeesQuery.queryKey });
    },
  });
  return (
    <FormDialog
      {...dialog}
      title="Erase the name of a former employee"
      action="Erase name"
      dangerous
      onClose={onClose}
    >
      <Text style={{ overflowWrap: 'anywhere' }}>
        Timelines and the audit log then show [erased] in place of the name and e-mail of{' '}
        <strong>{employee.email}</strong>. This cannot be undone.
      </Text>
      <Hint>
        It takes a few minutes, in a large shop longer. Copies elsewhere, such as backups and exported files,
        are not touched.
      </Hint>
      <ReasonInput {...form.getInputProps('reason')} />
    </FormDialog>
  );
};
