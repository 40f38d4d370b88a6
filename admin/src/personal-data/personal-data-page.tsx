import { Button, Stack, Text } from '@mantine/core';
import { queryOptions, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type { z } from 'zod';
import type { FormerEmployee, FormerEmployeeList } from '../../../contract/personal-data.ts';
import { api } from '../api.ts';
import { texts } from '../texts.ts';
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

const t = texts.personalData;

export const PersonalDataPage = () => (
  <PageFrame title={t.title} intro={t.intro}>
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
    <Section title={t.former}>
      <Stack>
        <Text size="sm" c="dimmed" maw="70ch">
          {t.formerIntro}
        </Text>
        <QueryView query={employees}>
          {({ items }) =>
            items.length === 0 ? (
              <Hint>{t.noFormer}</Hint>
            ) : (
              <>
                <Employees items={items} onErase={choose} />
                {items.length === MOST_LISTED ? <Hint>{t.mostFormer(MOST_LISTED)}</Hint> : null}
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
    caption={t.formerCaption}
    columns={[
      { header: t.email, cell: ({ email }) => <BreakableEmail email={email} /> },
      { header: t.removed, noWrap: true, cell: ({ removedAt }) => <RelativeTime at={removedAt} /> },
    ]}
    rows={items}
    nameOf={({ email }) => email}
    actions={(employee) =>
      employee.erasing ? (
        <Text span size="sm" c="dimmed">
          {t.isErasing}
        </Text>
      ) : (
        <Button
          size="xs"
          variant="default"
          aria-label={t.eraseNameOf(employee.email)}
          onClick={() => onErase(employee)}
        >
          {t.eraseName}
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
      notifyDone(t.nameErasing);
      onClose();
      return queryClient.invalidateQueries({ queryKey: formerEmployeesQuery.queryKey });
    },
  });
  return (
    <FormDialog {...dialog} title={t.eraseNameTitle} action={t.eraseNameAction} dangerous onClose={onClose}>
      <Text style={{ overflowWrap: 'anywhere' }}>{t.eraseNameIntro(employee.email)}</Text>
      <Hint>{t.eraseNameHint}</Hint>
      <ReasonInput {...form.getInputProps('reason')} />
    </FormDialog>
  );
};
