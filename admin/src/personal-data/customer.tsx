import { Box, Button, Group, Stack, Text, TextInput } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { Download, Eraser, Search } from 'lucide-react';
import { useState } from 'react';
import {
  type CustomerExport,
  type CustomerReturn,
  FindCustomer,
  type FoundCustomer,
} from '../../../contract/personal-data.ts';
import { api } from '../api.ts';
import { StatusBadge } from '../returns/badges.tsx';
import { KIND_OF } from '../returns/kinds.ts';
import { texts } from '../texts.ts';
import { type Column, DataTable } from '../ui/data-table.tsx';
import { useApiForm } from '../ui/forms/api-form.ts';
import { TextLink } from '../ui/links.tsx';
import { notifyDone } from '../ui/notify.ts';
import { Section } from '../ui/page-frame.tsx';
import { ErrorAlert, FormFailure } from '../ui/query-view.tsx';
import { RelativeTimeAndDate } from '../ui/relative-time.tsx';
import { saveFile } from '../ui/save-file.ts';
import { Hint, TwoLines } from '../ui/two-lines.tsx';
import { EraseDialog } from './erase-dialog.tsx';
import { personFrom, personText, returnsText } from './erasing.ts';

const t = texts.personalData;

interface Found extends FoundCustomer {
  person: FindCustomer;
}

const find = async (person: FindCustomer): Promise<Found> => ({
  person,
  ...(await api.post<FoundCustomer>('/customers/find', person)),
});

export const AskingCustomer = () => {
  const [found, setFound] = useState<Found | null>(null);
  const { form, onSubmit, busy, failure } = useApiForm({
    schema: FindCustomer,
    initialValues: { typed: '' },
    bodyOf: ({ typed }) => personFrom(typed),
    send: find,
    onDone: setFound,
  });
  /** The list stays as it is where it cannot be read, or where another customer was searched meanwhile. */
  const findAgain = async ({ person }: Found) => {
    const next = await find(person).catch(() => null);
    setFound((now) => (next && now?.person === person ? next : now));
  };
  const { email, phone } = form.errors;
  const error = phone ? t.wrongPhone : email;
  return (
    <Section title={t.customer}>
      <Stack>
        <Text size="sm" c="dimmed" maw="70ch">
          {t.customerIntro}
        </Text>
        <form onSubmit={onSubmit} noValidate>
          <TextInput
            maw="36rem"
            label={t.emailOrPhone}
            inputContainer={(input) => (
              <Group gap="xs" wrap="nowrap" align="flex-end">
                <Box flex={1}>{input}</Box>
                <Button type="submit" loading={busy} leftSection={<Search />}>
                  {t.find}
                </Button>
              </Group>
            )}
            autoComplete="off"
            spellCheck={false}
            {...form.getInputProps('typed')}
            error={error}
          />
        </form>
        {email || phone ? null : <FormFailure failure={failure} />}
        <div role="status">
          {found ? (
            <FoundReturns
              key={personText(found.person)}
              found={found}
              onErased={() => void findAgain(found)}
            />
          ) : null}
        </div>
      </Stack>
    </Section>
  );
};

const FoundReturns = ({ found, onErased }: { found: Found; onErased(): void }) => {
  const { person, total, returns } = found;
  const [erasing, setErasing] = useState(false);
  const name = personText(person);
  return (
    <Stack gap="sm">
      {total === 0 ? (
        <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
          {t.none(name)}
        </Text>
      ) : (
        <>
          <Group justify="space-between" gap="sm">
            <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
              {t.foundOf(returnsText(total), name)}
            </Text>
            <Group gap="xs">
              <ExportButton person={person} />
              <Button variant="default" leftSection={<Eraser />} onClick={() => setErasing(true)}>
                {t.erase}
              </Button>
            </Group>
          </Group>
          <ReturnsOf returns={returns} total={total} />
        </>
      )}
      {erasing ? <EraseDialog person={person} onErased={onErased} onClose={() => setErasing(false)} /> : null}
    </Stack>
  );
};

const ExportButton = ({ person }: { person: FindCustomer }) => {
  const exporting = useMutation({
    mutationFn: () => api.postLong<CustomerExport>('/customers/export', person),
    onSuccess: (result) => {
      const name = `customer-export-${result.exportedAt.slice(0, 10)}.json`;
      saveFile(name, JSON.stringify(result, null, 2), 'application/json');
      notifyDone(t.exported(returnsText(result.returns.length)));
    },
  });
  return (
    <>
      {exporting.error ? <ErrorAlert title={t.notExported} error={exporting.error} /> : null}
      <Button
        variant="default"
        leftSection={<Download />}
        loading={exporting.isPending}
        onClick={() => exporting.mutate()}
      >
        {t.export}
      </Button>
    </>
  );
};

const COLUMNS: [Column<CustomerReturn>, ...Column<CustomerReturn>[]] = [
  {
    header: t.number,
    noWrap: true,
    cell: ({ kind, id, rmaNumber }) =>
      KIND_OF[kind] ? (
        <TextLink to={KIND_OF[kind].detail} params={{ id }} size="sm" fw={600} preload={false}>
          {rmaNumber}
        </TextLink>
      ) : (
        rmaNumber
      ),
  },
  { header: t.type, noWrap: true, cell: ({ kind }) => sentenceCase(KIND_OF[kind]?.one ?? kind) },
  { header: t.status, noWrap: true, cell: ({ status }) => <StatusBadge status={status} /> },
  {
    header: t.columnCustomer,
    cell: ({ customerName, customerEmail }) => <TwoLines first={customerName} second={customerEmail} />,
  },
  { header: t.created, noWrap: true, cell: ({ createdAt }) => <RelativeTimeAndDate at={createdAt} /> },
];

const sentenceCase = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

/** More would push the other parts of the page away. */
const SHOWN_FIRST = 10;

const ReturnsOf = ({ returns, total }: Pick<Found, 'returns' | 'total'>) => {
  const [showsAll, setShowsAll] = useState(false);
  const shown = showsAll ? returns : returns.slice(0, SHOWN_FIRST);
  return (
    <>
      <DataTable caption={t.caption} columns={COLUMNS} rows={shown} nameOf={({ rmaNumber }) => rmaNumber} />
      {shown.length < returns.length ? (
        <Button variant="default" size="xs" w="fit-content" onClick={() => setShowsAll(true)}>
          {(returns.length === total ? t.showAll : t.showNewest)(returns.length)}
        </Button>
      ) : null}
      {returns.length < total ? <Hint>{t.cut(returns.length, returnsText(total))}</Hint> : null}
    </>
  );
};
