import { type FormErrors, useForm } from '@mantine/form';
import { useMutation } from '@tanstack/react-query';
import { type FormEvent, useId, useRef } from 'react';
import type { z } from 'zod';
import { ApiError } from '../../api.ts';
import { formErrors, serverErrors } from './form-errors.ts';

type Errors = Record<string, string>;

/** An error appears when the typing pauses this long. It disappears as soon as the input is valid. */
const PAUSE_MS = 500;

interface Options<Schema extends z.ZodType, Values, Result> {
  /** The same schema that the service validates with. */
  schema: Schema;
  initialValues: Values;
  /** Turns the values into the request body, where they differ; the schema validates the body. */
  bodyOf?: (values: Values) => unknown;
  send: (body: z.output<Schema>) => Promise<Result>;
  onDone?: (result: Result, values: Values) => unknown;
  onChange?: (values: Values) => void;
  /** Error codes that are about one input, though the service names no field. */
  codes?: Record<string, keyof Values & string>;
}

/** A form that validates as people type, sends, and shows the service's errors beside the inputs. It keeps what was typed. */
export const useApiForm = <Schema extends z.ZodType, Values extends object, Result>(
  options: Options<Schema, Values, Result>,
) => {
  const { schema, initialValues, bodyOf = (values) => values, send, onDone, onChange, codes = {} } = options;
  /** What the service refused last. An error stays until its input changes. */
  const refused = useRef<{ values: Values; errors: Errors } | null>(null);
  /** What the form was reset to, until someone types or submits: the validation of what was typed before may still be waiting. */
  const untouched = useRef<Values | null>(null);
  const validate = (values: Values): Errors =>
    values === untouched.current
      ? {}
      : { ...unchangedErrors(refused.current, values), ...formErrors(schema, bodyOf(values)) };
  const form = useForm<Values>({
    // Two forms on a page may have inputs of the same name; the library takes only letters and digits here.
    name: useId().replaceAll(/\W|_/g, ''),
    initialValues,
    validate,
    validateInputOnChange: true,
    validateDebounce: PAUSE_MS,
    onValuesChange: (values) => {
      onChange?.(values);
      const errors = validate(values);
      form.setErrors((shown) => Object.fromEntries(Object.entries(errors).filter(([path]) => path in shown)));
    },
  });
  const focusFirst = (errors: FormErrors) =>
    focusFirstOf(Object.keys(errors).map((path) => form.getInputNode<HTMLElement, never>(path as never)));
  const sending = useMutation({
    mutationFn: (values: Values) => send(schema.parse(bodyOf(values))),
    onSuccess: onDone,
    onError: (error, values) => {
      const errors = errorsByInput(error, codes);
      if (Object.keys(errors).length === 0) return;
      refused.current = { values, errors };
      form.setErrors(errors);
      focusFirst(errors);
    },
  });
  const onSubmit = (event: FormEvent<HTMLFormElement>) => {
    // The service may accept now what it refused before.
    refused.current = null;
    untouched.current = null;
    form.onSubmit((values) => sending.mutate(values), focusFirst)(event);
  };
  const paths = Object.keys(errorsByInput(sending.error, codes));
  const isShownAtInputs = paths.length > 0 && paths.every((path) => valueAt(form.values, path) !== undefined);
  return {
    form,
    onSubmit,
    /** Starts again from these values, without errors. */
    resetTo(values: Values) {
      form.setInitialValues(values);
      form.setValues(values);
      untouched.current = form.getValues();
    },
    busy: sending.isPending,
    /** The error, unless it is shown beside the inputs. */
    failure: isShownAtInputs ? null : sending.error,
    clearFailure: sending.reset,
  };
};

const unchangedErrors = (refused: { values: object; errors: Errors } | null, values: object): Errors =>
  Object.fromEntries(
    Object.entries(refused?.errors ?? {}).filter(
      ([path]) => valueAt(values, path) === valueAt(refused?.values, path),
    ),
  );

/** The first on the page: the schema may have them in another order. */
const focusFirstOf = (nodes: (HTMLElement | null)[]): void => {
  const [node] = nodes
    .filter((candidate) => candidate !== null)
    .sort((a, b) => (a.compareDocumentPosition(b) & Node.DOCUMENT_POSITION_FOLLOWING ? -1 : 1));
  if (!node) return;
  const isInput = node.matches('input, textarea, select');
  (isInput ? node : (node.querySelector<HTMLElement>('input') ?? node)).focus();
};

const errorsByInput = (error: unknown, codes: Record<string, string>): Errors => {
  if (!(error instanceof ApiError)) return {};
  const field = codes[error.body?.code ?? ''];
  return field ? { [field]: error.message } : serverErrors(error);
};

const valueAt = (values: unknown, path: string): unknown =>
  path.split('.').reduce<unknown>((at, step) => (at as Record<string, unknown> | undefined)?.[step], values);
