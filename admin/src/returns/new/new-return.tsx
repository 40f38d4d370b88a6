import { Alert, Button, Group, Stack, Text } from '@mantine/core';
import type { UseFormReturnType } from '@mantine/form';
import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import type { z } from 'zod';
import { api } from '../../api.ts';
import { useSession } from '../../session/session.ts';
import { useApiForm } from '../../ui/api-form.ts';
import { draftOf } from '../../ui/draft.ts';
import { ErrorAlert } from '../../ui/error-alert.tsx';
import { ButtonLink } from '../../ui/links.tsx';
import { notifyDone } from '../../ui/notify.ts';
import { PageTitle } from '../../ui/page-title.tsx';
import { BackToList } from '../back-link.tsx';
import type { AnyReturn, Kind } from '../kinds.ts';
import { lastSearch } from '../last-search.ts';
import { detailQuery, refetchReturns } from '../queries.ts';

interface Props<Values> {
  kind: Kind;
  /** The very schema by which the service will check. */
  schema: z.ZodType;
  empty: Values;
  bodyOf(values: Values): unknown;
  onMade?: (values: Values) => void;
  children(form: UseFormReturnType<Values>): ReactNode;
}

/** The frame of a form that makes a return: nothing typed is lost before the service has it. */
export const NewReturn = <Values extends object>(props: Props<Values>) => {
  const { kind, schema, empty, bodyOf, onMade, children } = props;
  const { user } = useSession();
  const queryClient = useQueryClient();
  const navigate = useNavigate();
  const [draft] = useState(() => draftOf<Values>(kind.path.slice(1), user.id));
  const [found] = useState(() => draft.read());
  const [isFromBefore, setFromBefore] = useState(found !== null);
  const { form, submit, busy, failure, clearFailure } = useApiForm({
    schema,
    initialValues: { ...empty, ...found },
    bodyOf,
    onChange: draft.write,
    send: (body) => {
      draft.write(form.values);
      return api.post<AnyReturn>(kind.path, body, { 'idempotency-key': draft.keyFor(body) });
    },
    onDone: async (made, values) => {
      draft.clear();
      onMade?.(values);
      queryClient.setQueryData(detailQuery<AnyReturn>(kind, made.id).queryKey, made);
      void refetchReturns(queryClient, kind);
      notifyDone(`${made.rmaNumber} created`);
      await navigate({ to: kind.detail, params: { id: made.id }, replace: true });
    },
  });
  const startOver = () => {
    draft.clear();
    form.setInitialValues(empty);
    form.setValues(empty);
    form.clearErrors();
    draft.clear();
    setFromBefore(false);
    clearFailure();
  };
  const wrong = Object.keys(form.errors).length;
  return (
    <Stack gap="md" pb="xl" maw={900}>
      <BackToList kind={kind} />
      <PageTitle>{`New ${kind.one}`}</PageTitle>
      {isFromBefore ? (
        <Alert color="blue" role="status">
          <Group justify="space-between" gap="sm">
            <Text size="sm">What you typed before is still here.</Text>
            <Button size="xs" variant="default" onClick={startOver}>
              Start over
            </Button>
          </Group>
        </Alert>
      ) : null}
      <form onSubmit={submit} noValidate>
        <Stack gap="md">
          {children(form)}
          {failure ? <ErrorAlert title="Not created yet; what you typed is kept" error={failure} /> : null}
          <Group justify="flex-end">
            <Text size="sm" c="var(--mantine-color-error)" role="status" mr="auto">
              {wrong > 0 ? `${wrong} ${wrong === 1 ? 'field needs' : 'fields need'} another look.` : ''}
            </Text>
            <ButtonLink variant="default" to={kind.path} search={lastSearch(kind)}>
              Cancel
            </ButtonLink>
            <Button type="submit" loading={busy}>
              Create {kind.one}
            </Button>
          </Group>
        </Stack>
      </form>
    </Stack>
  );
};
