import { PasswordInput, type PasswordInputProps, TextInput, type TextInputProps } from '@mantine/core';
import { type UseFormReturnType, useForm } from '@mantine/form';
import { useMutation } from '@tanstack/react-query';
import { useRef, useState } from 'react';
import { ApiError, api } from '../api.ts';
import { texts } from '../texts.ts';
import { TextButton } from '../ui/links.tsx';
import { type Session, useSession, useSignedIn } from './session.ts';

// What proves who a person is: passwords and codes of two-step verification.

const t = texts.session;

/** As `getInputProps` of a form gives it: it takes an event or a value. */
export type FormInput<Props> = Omit<Props, 'onChange'> & { onChange: (value: string) => void };

const CODE_KINDS = {
  app: {
    label: t.appCode,
    description: t.appCodeHint,
    input: { inputMode: 'numeric', autoComplete: 'one-time-code', placeholder: t.appCodeExample },
    other: t.recoveryInstead,
  },
  recovery: {
    label: t.recoveryCode,
    description: t.recoveryCodeHint,
    input: { inputMode: 'text', autoComplete: 'off', placeholder: t.recoveryCodeExample },
    other: t.appInstead,
  },
} as const;

export const CodeInput = ({ onChange, ...props }: FormInput<TextInputProps>) => {
  const [kind, setKind] = useState<keyof typeof CODE_KINDS>('app');
  const { label, description, input, other } = CODE_KINDS[kind];
  const field = useRef<HTMLInputElement>(null);
  const switchKind = () => {
    setKind(kind === 'app' ? 'recovery' : 'app');
    onChange('');
    field.current?.focus();
  };
  return (
    <div>
      <TextInput
        label={label}
        description={description}
        required
        autoCapitalize="none"
        spellCheck={false}
        styles={{ input: { fontFamily: 'var(--mantine-font-family-monospace)' } }}
        {...input}
        {...props}
        onChange={({ currentTarget }) => onChange(currentTarget.value)}
        ref={field}
      />
      <TextButton mt={6} onClick={switchKind}>
        {other}
      </TextButton>
    </div>
  );
};

/** Not of type `email`: browsers refuse to send letters beyond ASCII in those, and accounts from before may have them. */
export const EmailInput = (props: TextInputProps) => (
  <TextInput
    label={t.email}
    inputMode="email"
    autoCapitalize="none"
    autoCorrect="off"
    spellCheck={false}
    required
    {...props}
  />
);

export const CurrentPasswordInput = (props: PasswordInputProps) => (
  <PasswordInput label={t.password} autoComplete="current-password" required {...props} />
);

/** Tells a password manager whose password a form has. */
export const UsernameInput = ({ email }: { email: string }) => (
  <input type="text" autoComplete="username" value={email} readOnly hidden />
);

export type ProofBy = 'password' | 'code';

interface ProofProps<Values> {
  form: UseFormReturnType<Values>;
  /** The name of the password's field; a code is in `code`. */
  password: keyof Values & string;
  focused?: boolean;
  onSwitch?: () => void;
}

export const ProofInput = <Values extends { by: ProofBy }>(props: ProofProps<Values>) => {
  const { form, password, focused, onSwitch } = props;
  const { user } = useSession();
  const { by } = form.values;
  const switchTo = (next: ProofBy) => {
    form.setValues({ by: next, [password]: '', code: '' } as never);
    form.clearErrors();
    onSwitch?.();
  };
  return (
    <>
      <UsernameInput email={user.email} />
      {by === 'password' ? (
        <CurrentPasswordInput
          label={t.currentPassword}
          data-autofocus={focused}
          autoFocus={focused ?? false}
          visibilityToggleButtonProps={{ 'aria-label': t.showCurrentPassword }}
          {...form.getInputProps(password)}
        />
      ) : (
        <CodeInput autoFocus {...form.getInputProps('code')} />
      )}
      {user.secondFactor ? (
        <TextButton
          style={{ alignSelf: 'flex-start' }}
          onClick={() => switchTo(by === 'password' ? 'code' : 'password')}
        >
          {by === 'password' ? t.codeInstead : t.passwordInstead}
        </TextButton>
      ) : null}
    </>
  );
};

/** The password was right, and a code is needed as well. */
const isCodeMissing = (error: unknown): boolean =>
  error instanceof ApiError && error.body?.code === 'SECOND_FACTOR_REQUIRED';

export const useSignIn = (email: string, onDone: () => void) => {
  const [asksCode, askCode] = useState(false);
  const signedIn = useSignedIn();
  const form = useForm({ initialValues: { email, password: '', code: '' } });
  const signIn = useMutation({
    mutationFn: ({ code, ...values }: typeof form.values) =>
      api.post<Session>('/session', asksCode ? { ...values, code } : values),
    onSuccess: (session) => {
      signedIn(session);
      onDone();
    },
    onError: (error) => {
      if (isCodeMissing(error)) return askCode(true);
      form.setFieldValue('code', '');
      form.getInputNode(asksCode ? 'code' : 'password')?.focus();
    },
  });
  const startOver = () => {
    askCode(false);
    signIn.reset();
    form.setValues({ code: '', password: '' });
  };
  return {
    form,
    asksCode,
    onSubmit: form.onSubmit((values) => signIn.mutate(values)),
    busy: signIn.isPending,
    failure: isCodeMissing(signIn.error) ? null : signIn.error,
    startOver,
  };
};
