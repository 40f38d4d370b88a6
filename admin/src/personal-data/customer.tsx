import { Button, Group, Stack, Text, TextInput } from '@mantine/core';
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

const COMPARED =
  'Upper and lower case make no difference. A phone number is compared by its digits: spaces do not matter.';

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
  const error = phone ? 'Type a whole e-mail address, or a phone number with at least 5 digits.' : email;
  return (
    <Section title="A customer asks">
      <Stack>
        <Text size="sm" maw="70ch">
          A customer wants to know what you store about them, or wants it deleted. Find their returns first.
          Then export the data to give them a copy, or erase it.
        </Text>
        <form onSubmit={onSubmit} noValidate>
          <Group align="flex-start" gap="xs" maw="36rem">
            <TextInput
              flex="1 1 16rem"
              label="E-mail or phone"
              autoComplete="off"
              spellCheck={false}
              {...form.getInputProps('typed')}
              error={error}
            />
            <Button
              type="submit"
              loading={busy}
              mt={{ base: 0, xs: 24 }}
              leftSection={<Search size={16} aria-hidden />}
            >
              Find
            </Button>
          </Group>
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

interface FoundProps {
  found: Found;
  onErased(): void;
}

const FoundReturns = ({ found, onErased }: FoundProps) => {
  const { person, total, returns } = found;
  const [erasing, setErasing] = useState(false);
  const name = <strong>{personText(person)}</strong>;
  return (
    <Stack gap="sm">
      {total === 0 ? (
        <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
          No return holds {name}. {COMPARED} Try another address of the customer, or the number with or
          without its country code.
        </Text>
      ) : (
        <>
          <Group justify="space-between" gap="sm">
            <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
              {returnsText(total)} of {name}
            </Text>
            <Group gap="xs">
              <ExportButton person={person} />
              <Button
                variant="default"
                leftSection={<Eraser size={16} aria-hidden />}
                onClick={() => setErasing(true)}
              >
                Erase…
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
    mutationFn: () => api.post<CustomerExport>('/customers/export', person),
    onSuccess: (answer) => {
      const name = `customer-export-${answer.exportedAt.slice(0, 10)}.json`;
      saveFile(name, JSON.stringify(answer, null, 2), 'application/json');
      notifyDone(`${returnsText(answer.returns.length)} exported`);
    },
  });
  return (
    <>
      {exporting.error ? <ErrorAlert title="Nothing was exported" error={exporting.error} /> : null}
      <Button
        variant="default"
        leftSection={<Download size={16} aria-hidden />}
        loading={exporting.isPending}
        onClick={() => exporting.mutate()}
      >
        Export
      </Button>
    </>
  );
};

const COLUMNS: [Column<CustomerReturn>, ...Column<CustomerReturn>[]] = [
  {
    header: 'Number',
    noWrap: true,
    cell: ({ kind, id, rmaNumber }) => (
      <TextLink to={KIND_OF[kind].detail} params={{ id }} size="sm" fw={600} preload={false}>
        {rmaNumber}
      </TextLink>
    ),
  },
  { header: 'Kind', noWrap: true, cell: ({ kind }) => sentenceCase(KIND_OF[kind].one) },
  { header: 'Status', noWrap: true, cell: ({ status }) => <StatusBadge status={status} /> },
  {
    header: 'Customer',
    cell: ({ customerName, customerEmail }) => <TwoLines first={customerName} second={customerEmail} />,
  },
  { header: 'Created', noWrap: true, cell: ({ createdAt }) => <RelativeTimeAndDate at={createdAt} /> },
];

const sentenceCase = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

/** More would push the other parts of the page away. */
const SHOWN_FIRST = 10;

const ReturnsOf = ({ returns, total }: Pick<Found, 'returns' | 'total'>) => {
  const [showsAll, setShowsAll] = useState(false);
  const shown = showsAll ? returns : returns.slice(0, SHOWN_FIRST);
  return (
    <>
      <DataTable
        caption="Returns of the customer, newest first"
        columns={COLUMNS}
        rows={shown}
        nameOf={({ rmaNumber }) => rmaNumber}
      />
      {shown.length < returns.length ? (
        <Button variant="default" size="xs" w="fit-content" onClick={() => setShowsAll(true)}>
          Show {returns.length === total ? 'all' : 'the newest'} {returns.length}
        </Button>
      ) : null}
      {returns.length < total ? (
        <Hint>
          At most {returns.length} are listed here. Export and Erase are about all {returnsText(total)}.
        </Hint>
      ) : null}
    </>
  );
};
