import { Alert, Button, Group, Stack, Text } from '@mantine/core';
import type { UseFormReturnType } from '@mantine/form';
import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { CircleCheck, TriangleAlert } from 'lucide-react';
import { type FormEvent, Fragment, type ReactNode, useRef, useState } from 'react';
import type { z } from 'zod';
import { api } from '../../api.ts';
import { BlockableButton, useBlocked } from '../../session/blocked.tsx';
import { texts } from '../../texts.ts';
import { useApiForm } from '../../ui/forms/api-form.ts';
import { ButtonLink, TextLink } from '../../ui/links.tsx';
import { notifyDone } from '../../ui/notify.ts';
import { PageBar, PageFrame } from '../../ui/page-frame.tsx';
import { ErrorAlert } from '../../ui/query-view.tsx';
import { keyLabel } from '../../ui/shortcuts.ts';
import { DraftNotice, useDraft } from '../draft.tsx';
import type { AnyReturn, Kind } from '../kinds.ts';
import { BackToList, lastSearch } from '../links.tsx';
import { PaperSelect, type usePaper, useSlipPrinter } from '../print/slips.tsx';
import { detailQuery, refetchReturns } from '../queries.ts';
import styles from './intake.module.css';

const words = texts.intake;

interface FormOptions<Values> {
  kind: Kind;
  schema: z.ZodType;
  initialValues(): Values;
  bodyOf(values: Values): unknown;
  onCreated?: (values: Values) => void;
}

interface Props<Values> extends FormOptions<Values> {
  /** Prints the slip, and begins the next one: for what is handed in over the counter. */
  canPrint?: boolean;
  children(form: UseFormReturnType<Values>): ReactNode;
}

/** The value of the button that opens what was created; Ctrl and Enter are the other button. */
const OPEN = 'open';

export const NewReturnForm = <Values extends object>({ children, canPrint, ...options }: Props<Values>) => {
  const { kind } = options;
  const queryClient = useQueryClient();
  const printer = useSlipPrinter();
  const wantsPrint = useRef(false);
  const [last, setLast] = useState<Last | null>(null);
  const print = async (item: AnyReturn) => {
    setLast({ item, isPrinted: true });
    // The response of a creation does not say when it is due.
    const whole = queryClient.fetchQuery(detailQuery<AnyReturn>(kind, item.id)).catch(() => item);
    await printer.print(await whole).catch(() => setLast({ item, isPrinted: false }));
  };
  const { form, onSubmit, busy, failure, isFromDraft, startOver, forget, round } = useNewReturn(
    options,
    (created) => {
      if (wantsPrint.current) void print(created);
      return wantsPrint.current;
    },
  );
  const submit = (event: FormEvent<HTMLFormElement>) => {
    const { submitter } = event.nativeEvent as SubmitEvent;
    wantsPrint.current = canPrint === true && submitter?.getAttribute('value') !== OPEN;
    onSubmit(event);
  };
  return (
    <PageFrame backLink={<BackToList kind={kind} />} title={words.newTitle(kind.one)}>
      {last ? <LastCreated kind={kind} last={last} onPrint={() => void print(last.item)} /> : null}
      {isFromDraft ? (
        <Alert color="blue">
          <DraftNotice onStartOver={startOver} />
        </Alert>
      ) : null}
      <form onSubmit={submit} noValidate>
        <Stack gap="md">
          <Fragment key={round}>{children(form)}</Fragment>
          <PageBar>
            {failure ? <ErrorAlert title={words.notCreated} error={failure} /> : null}
            <Group justify="flex-end" gap="xs">
              <Text size="sm" c="var(--mantine-color-error)" role="status" mr="auto">
                {words.wrongFields(Object.keys(form.errors).length)}
              </Text>
              <ButtonLink
                variant="subtle"
                color="gray"
                to={kind.path}
                search={lastSearch(kind)}
                onClick={forget}
              >
                {words.cancel}
              </ButtonLink>
              <SubmitButtons kind={kind} busy={busy} paper={canPrint ? printer.paper : null} />
            </Group>
          </PageBar>
        </Stack>
      </form>
      {printer.slips}
    </PageFrame>
  );
};

interface SubmitProps {
  kind: Kind;
  busy: boolean;
  /** Null where nothing is printed. */
  paper: ReturnType<typeof usePaper> | null;
}

const SubmitButtons = ({ kind, busy, paper }: SubmitProps) => {
  const blocked = useBlocked();
  return (
    <>
      {paper ? <PaperSelect paper={paper} aria-label={words.paper} visibleFrom="xs" /> : null}
      <BlockableButton
        blocked={blocked}
        type="submit"
        value={OPEN}
        loading={busy}
        variant={paper ? 'default' : 'filled'}
      >
        {words.create(kind.one)}
      </BlockableButton>
      {paper ? (
        <BlockableButton
          blocked={blocked}
          type="submit"
          loading={busy}
          aria-keyshortcuts="Control+Enter Meta+Enter"
          rightSection={<kbd className={styles['key']}>{keyLabel('mod+↵')}</kbd>}
        >
          {words.createAndPrint}
        </BlockableButton>
      ) : null}
    </>
  );
};

interface Last {
  item: AnyReturn;
  isPrinted: boolean;
}

/** The one before, for the person who looks up from the printer. */
const LastCreated = ({
  kind,
  last: { item, isPrinted },
  onPrint,
}: {
  kind: Kind;
  last: Last;
  onPrint(): void;
}) => (
  <Alert
    color={isPrinted ? 'teal' : 'orange'}
    role="status"
    py="xs"
    icon={isPrinted ? <CircleCheck size={24} /> : <TriangleAlert size={24} />}
  >
    <Group gap="sm">
      <TextLink to={kind.detail} params={{ id: item.id }} inherit c="inherit" td="underline">
        {words.created(item.rmaNumber)}
      </TextLink>
      <bdi>{isPrinted ? item.customerName : words.notPrinted}</bdi>
      <Button size="compact-xs" variant="default" onClick={onPrint}>
        {words.printAgain}
      </Button>
    </Group>
  </Alert>
);

/** `onNext` says of what was created whether the form is used for the next one; else it opens. */
const useNewReturn = <Values extends object>(
  options: FormOptions<Values>,
  onNext: (created: AnyReturn) => boolean,
) => {
  const { kind, schema, initialValues, bodyOf, onCreated } = options;
  const queryClient = useQueryClient();
  const navigate = useNavigate();
  const { draft, stored } = useDraft<Values>(kind.path.slice(1));
  const [isFromDraft, setFromDraft] = useState(stored !== null);
  const [round, setRound] = useState(0);
  const [first] = useState(() => ({ ...initialValues(), ...stored }));
  const { form, onSubmit, resetTo, busy, failure, clearFailure } = useApiForm({
    schema,
    initialValues: first,
    bodyOf,
    onChange: draft.write,
    send: (body) => {
      draft.write(form.values);
      return api.post<AnyReturn>(kind.path, body, { 'idempotency-key': draft.keyFor(body) });
    },
    onDone: async (created, values) => {
      onCreated?.(values);
      void refetchReturns(queryClient, kind);
      if (onNext(created)) return startOver();
      draft.clear();
      notifyDone(words.created(created.rmaNumber));
      await navigate({ to: kind.detail, params: { id: created.id }, replace: true });
    },
  });
  const startOver = () => {
    draft.clear();
    resetTo(initialValues());
    // Once more, because setting the values wrote them into the draft.
    draft.clear();
    setFromDraft(false);
    setRound((before) => before + 1);
    clearFailure();
  };
  return { form, onSubmit, busy, failure, isFromDraft, startOver, forget: draft.clear, round };
};
