import { type FormErrors, useForm } from '@mantine/form';
import type { z } from 'zod';
import { ApiError } from '../api.ts';
import { formErrors, serverErrors } from './form-errors.ts';

/** How long somebody has stopped typing before an input is judged; a fault that is put right goes at once. */
const PAUSE_MS = 500;

const valueAt = (values: unknown, path: string): unknown =>
  path.split('.').reduce<unknown>((at, step) => (at as Record<string, unknown> | undefined)?.[step], values);

interface Options<Values> {
  schema: z.ZodType;
  initialValues: Values;
  /** What is sent for these values: the schema judges that. */
  bodyOf: (values: Values) => unknown;
  onChange?: (values: Values) => void;
}

/** A form that is judged, while one types, by the schema the API judges it by. */
export const useSchemaForm = <Values extends object>({
  schema,
  initialValues,
  bodyOf,
  onChange,
}: Options<Values>) => {
  const form = useForm<Values>({
    initialValues,
    validate: (values) => formErrors(schema, bodyOf(values)),
    validateInputOnChange: true,
    validateDebounce: PAUSE_MS,
    onValuesChange: (values, previous) => {
      onChange?.(values);
      form.setErrors((shown) => stillWrong(shown, formErrors(schema, bodyOf(values)), values, previous));
    },
  });

  const focusFirst = (errors: FormErrors) => {
    for (const path of Object.keys(errors)) {
      const node = document.querySelector<HTMLElement>(`[data-path="${CSS.escape(path)}"]`);
      if (!node) continue;
      const input = node.matches('input, textarea, select') ? node : node.querySelector<HTMLElement>('input');
      (input ?? node).focus();
      return;
    }
  };

  return {
    form,
    focusFirst,
    /** Shows what the service refused beside its inputs. */
    refused: (error: unknown) => {
      if (!(error instanceof ApiError)) return;
      const errors = serverErrors(error);
      if (Object.keys(errors).length === 0) return;
      form.setErrors(errors);
      focusFirst(errors);
    },
  };
};

/** Of the faults that are shown: those that are still there, and the service's until their value is changed. */
const stillWrong = (shown: FormErrors, now: FormErrors, values: unknown, previous: unknown): FormErrors => {
  const paths = Object.keys(shown);
  if (paths.length === 0) return shown;
  return Object.fromEntries(
    paths.flatMap((path) => {
      const says = now[path] ?? (valueAt(values, path) === valueAt(previous, path) ? shown[path] : undefined);
      return says === undefined ? [] : [[path, says]];
    }),
  );
};
