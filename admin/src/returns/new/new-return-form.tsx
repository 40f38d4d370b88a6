import { Alert, Group, Stack, Text } from '@mantine/core';
import type { UseFormReturnType } from '@mantine/form';
import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import type { z } from 'zod';
import { api } from '../../api.ts';
import { BlockableButton, useBlocked } from '../../session/blocked.tsx';
import { useApiForm } from '../../ui/forms/api-form.ts';
import { ButtonLink } from '../../ui/links.tsx';
import { notifyDone } from '../../ui/notify.ts';
import { PageTitle } from '../../ui/page-frame.tsx';
import { ErrorAlert } from '../../ui/query-view.tsx';
import { DraftNotice, useDraft } from '../draft.tsx';
import type { AnyReturn, Kind } from '../kinds.ts';
import { BackToList, lastSearch } from '../links.tsx';
import { detailQuery, refetchReturns } from '../queries.ts';

interface FormOptions<Values> {
  kind: Kind;
  schema: z.ZodType;
  initialValues: Values;
  bodyOf(values: Values): unknown;
  onCreated?: (values: Values) => void;
}

interface Props<Values> extends FormOptions<Values> {
  children(form: UseFormReturnType<Values>): ReactNode;
}

export const NewReturnForm = <Values extends object>({ children, ...options }: Props<Values>) => {
  const { kind } = options;
  const { form, onSubmit, busy, failure, isFromDraft, startOver, forget } = useNewReturn(options);
  const { creating } = useBlocked();
  const errors = Object.keys(form.errors).length;
  return (
    <Stack gap="md" pb="xl" maw={900}>
      <BackToList kind={kind} />
      <PageTitle>{`New ${kind.one}`}</PageTitle>
      {isFromDraft ? (
        <Alert color="blue">
          <DraftNotice onStartOver={startOver} />
        </Alert>
      ) : null}
      <form onSubmit={onSubmit} noValidate>
        <Stack gap="md">
          {children(form)}
          {failure ? <ErrorAlert title="Not created yet; what you typed is kept" error={failure} /> : null}
          <Group justify="flex-end">
            <Text size="sm" c="var(--mantine-color-error)" role="status" mr="auto">
              {errors > 0 ? `${errors} ${errors === 1 ? 'field needs' : 'fields need'} another look.` : ''}
            </Text>
            <ButtonLink variant="default" to={kind.path} search={lastSearch(kind)} onClick={forget}>
              Cancel
            </ButtonLink>
            <BlockableButton blocked={creating} type="submit" loading={busy}>
              Create {kind.one}
            </BlockableButton>
          </Group>
        </Stack>
      </form>
    </Stack>
  );
};

const useNewReturn = <Values extends object>(options: FormOptions<Values>) => {
  const { kind, schema, initialValues, bodyOf, onCreated } = options;
  const queryClient = useQueryClient();
  const navigate = useNavigate();
  const { draft, stored } = useDraft<Values>(kind.path.slice(1));
  const [isFromDraft, setFromDraft] = useState(stored !== null);
  const { form, onSubmit, resetTo, busy, failure, clearFailure } = useApiForm({
    schema,
    initialValues: { ...initialValues, ...stored },
    bodyOf,
    onChange: draft.write,
    send: (body) => {
      draft.write(form.values);
      return api.post<AnyReturn>(kind.path, body, { 'idempotency-key': draft.keyFor(body) });
    },
    onDone: async (created, values) => {
      draft.clear();
      onCreated?.(values);
      queryClient.setQueryData(detailQuery<AnyReturn>(kind, created.id).queryKey, created);
      void refetchReturns(queryClient, kind);
      notifyDone(`${created.rmaNumber} created`);
      await navigate({ to: kind.detail, params: { id: created.id }, replace: true });
    },
  });
  const startOver = () => {
    draft.clear();
    resetTo(initialValues);
    // Once more, because setting the values wrote them into the draft.
    draft.clear();
    setFromDraft(false);
    clearFailure();
  };
  return { form, onSubmit, busy, failure, isFromDraft, startOver, forget: draft.clear };
};
