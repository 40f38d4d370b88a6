import { type FormErrors, useForm } from '@mantine/form';
import { useMutation } from '@tanstack/react-query';
import { type FormEvent, useId, useRef } from 'react';
import type { z } from 'zod';
import { ApiError } from '../api.ts';
import { formErrors, serverErrors } from './form-errors.ts';

type Faults = Record<string, string>;

/** How long somebody has stopped typing before an input is judged; a fault that is put right goes at once. */
const PAUSE_MS = 500;

interface Options<Schema extends z.ZodType, Values, Answer> {
  /** The very schema by which the service will check. */
  schema: Schema;
  initialValues: Values;
  /** What is sent for these values, where they are not the body themselves: the schema judges that. */
  bodyOf?: (values: Values) => unknown;
  send: (body: z.output<Schema>) => Promise<Answer>;
  onDone?: (answer: Answer, values: Values) => unknown;
  onChange?: (values: Values) => void;
  /** Refusals that are about one input though they name none. */
  codes?: Record<string, keyof Values & string>;
}

/** A form that is judged as it is typed, sent, and marked with what the service says. Nothing typed is ever lost. */
export const useApiForm = <Schema extends z.ZodType, Values extends object, Answer>({
  schema,
  initialValues,
  bodyOf = (values) => values,
  send,
  onDone,
  onChange,
  codes = {},
}: Options<Schema, Values, Answer>) => {
  /** What the service refused last: a fault holds as long as its input is what it was then. */
  const refused = useRef<{ values: Values; faults: Faults } | null>(null);
  const faultsIn = (values: Values): Faults => {
    const { values: then, faults } = refused.current ?? { values, faults: {} };
    const standing = Object.entries(faults).filter(([path]) => valueAt(values, path) === valueAt(then, path));
    return { ...Object.fromEntries(standing), ...formErrors(schema, bodyOf(values)) };
  };
  const form = useForm<Values>({
    // Forms may stand beside each other with inputs of the same name; the library takes letters and digits only.
    name: useId().replaceAll(/\W|_/g, ''),
    initialValues,
    validate: faultsIn,
    validateInputOnChange: true,
    validateDebounce: PAUSE_MS,
    onValuesChange: (values) => {
      onChange?.(values);
      const faults = faultsIn(values);
      form.setErrors((shown) => Object.fromEntries(Object.entries(faults).filter(([path]) => path in shown)));
    },
  });
  const focusFirst = (faults: FormErrors) => {
    for (const path of Object.keys(faults)) {
      const node = form.getInputNode<HTMLElement, never>(path as never);
      if (!node) continue;
      const input = node.matches('input, textarea, select') ? node : node.querySelector<HTMLElement>('input');
      return (input ?? node).focus();
    }
  };
  const sending = useMutation({
    mutationFn: (values: Values) => send(schema.parse(bodyOf(values))),
    onSuccess: onDone,
    onError: (error, values) => {
      const faults = faultsByService(error, codes);
      if (Object.keys(faults).length === 0) return;
      refused.current = { values, faults };
      form.setErrors(faults);
      focusFirst(faults);
    },
  });
  const submit = (event: FormEvent<HTMLFormElement>) => {
    // What was refused may be sent again: the world may have changed.
    refused.current = null;
    form.onSubmit((values) => sending.mutate(values), focusFirst)(event);
  };

  const named = Object.keys(faultsByService(sending.error, codes));
  const isAtInputs = named.length > 0 && named.every((path) => valueAt(form.values, path) !== undefined);
  return {
    form,
    submit,
    busy: sending.isPending,
    /** What stands beside no input. */
    failure: isAtInputs ? null : sending.error,
    forgetFailure: sending.reset,
  };
};

const faultsByService = (error: unknown, codes: Record<string, string>): Faults => {
  if (!(error instanceof ApiError)) return {};
  const field = codes[error.body?.code ?? ''];
  return field ? { [field]: error.message } : serverErrors(error);
};

const valueAt = (values: unknown, path: string): unknown =>
  path.split('.').reduce<unknown>((at, step) => (at as Record<string, unknown> | undefined)?.[step], values);
