import { useForm } from '@mantine/form';
import { useMutation } from '@tanstack/react-query';
import { type FormEvent, useRef } from 'react';
import type { z } from 'zod';
import { ApiError } from '../api.ts';
import { formErrors, serverErrors } from './form-errors.ts';

type Faults = Record<string, string>;

/** What the service found wrong with the fields of the form. */
const faultsByService = (error: unknown, codes: Record<string, string>): Faults => {
  if (!(error instanceof ApiError)) return {};
  const field = codes[error.body?.code ?? ''];
  return field ? { [field]: error.message } : serverErrors(error);
};

interface Options<Schema extends z.ZodType, Values, Answer> {
  /** The very schema by which the service will check. */
  schema: Schema;
  initialValues: Values;
  send: (body: z.output<Schema>) => Promise<Answer>;
  onDone: (answer: Answer) => void;
  /** Refusals that are about one field though they name none. */
  codes?: Record<string, keyof Values & string>;
}

/** A form whose input is checked as it is typed, sent, and marked with what the service says. Nothing typed is ever lost. */
export const useApiForm = <
  Schema extends z.ZodType,
  Values extends z.input<Schema> & Record<string, unknown>,
  Answer,
>({
  schema,
  initialValues,
  send,
  onDone,
  codes = {},
}: Options<Schema, Values, Answer>) => {
  /** What the service refused last: a fault holds as long as the input is what it was then. */
  const refused = useRef<{ values: Values; faults: Faults } | null>(null);
  const form = useForm<Values>({
    initialValues,
    validateInputOnChange: true,
    validateInputOnBlur: true,
    // A pause in typing, so that nobody is told off for a word half written.
    validateDebounce: 400,
    validate: (values) => {
      const last = refused.current;
      const standing = Object.entries(last?.faults ?? {}).filter(
        ([field]) => values[field] === last?.values[field],
      );
      return { ...Object.fromEntries(standing), ...formErrors(schema, values) };
    },
  });
  const focus = (field: string | undefined) =>
    field === undefined ? undefined : form.getInputNode<HTMLElement, never>(field as never)?.focus();

  const sending = useMutation({
    mutationFn: (values: Values) => send(schema.parse(values)),
    onSuccess: onDone,
    onError: (error, values) => {
      const faults = faultsByService(error, codes);
      refused.current = { values, faults };
      form.setErrors(faults);
      focus(Object.keys(faults).find((field) => field in values));
    },
  });
  const submit = (event: FormEvent<HTMLFormElement>) => {
    // What was refused may be sent again: the world may have changed.
    refused.current = null;
    form.onSubmit(
      (values) => sending.mutate(values),
      (faults) => focus(Object.keys(faults)[0]),
    )(event);
  };

  const atInputs = Object.keys(faultsByService(sending.error, codes));
  /** What stands beside no input. */
  const failure =
    sending.error && !(atInputs.length > 0 && atInputs.every((field) => field in initialValues))
      ? sending.error
      : null;
  return { form, submit, busy: sending.isPending, failure };
};
