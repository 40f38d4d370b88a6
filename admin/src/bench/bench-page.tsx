import {
  Button,
  Checkbox,
  Fieldset,
  Group,
  Loader,
  NativeSelect,
  SimpleGrid,
  Stack,
  Text,
  Textarea,
  TextInput,
} from '@mantine/core';
import { CircleCheck, CircleX } from 'lucide-react';
import { useState } from 'react';
import { moveSchema } from '../returns/moves/move-form.tsx';
import type { MoveBody, MoveField } from '../returns/moves/moves.ts';
import { useBlocked } from '../session/blocked.tsx';
import { formErrors } from '../ui/forms/form-errors.ts';
import { TextLink } from '../ui/links.tsx';
import { PageFrame } from '../ui/page-frame.tsx';
import { LastScan, ScanField, useSound } from '../ui/scanning.tsx';
import { chooseByArrowsOnly } from '../ui/shortcuts.ts';
import { OrErased } from '../ui/two-lines.tsx';
import styles from './bench-page.module.css';
import {
  BENCH_KINDS,
  type BenchKind,
  type BenchMove,
  type Job,
  type Outcome,
  type Scan,
  useScanQueue,
} from './scans.ts';

const INCOMPLETE = 'Fill in above what each scan does.';

export const BenchPage = () => {
  const job = useJob();
  const sound = useSound();
  const [last, setLast] = useState<Outcome | null>(null);
  const { scans, add } = useScanQueue((outcome) => {
    setLast(outcome);
    sound.play(outcome.isDone ? 'done' : 'failed');
  });
  const { changing } = useBlocked();
  const scan = (text: string): void => {
    const ready = changing === null ? job.ready() : null;
    if (ready) add(text, ready);
    else setLast({ text, isDone: false, message: changing ?? INCOMPLETE, found: null, kind: null });
  };
  return (
    <PageFrame
      title="Bench"
      intro="Choose what is to be done once, then scan one return after the other. The page stays; what was done and what was not is listed below."
    >
      <JobInputs {...job} />
      <ScanField
        label="Scan a return"
        description="Its number, serial, tracking number, reference or order; Enter sends it."
        onScan={scan}
      />
      <LastScan last={last && { ...last, text: last.found?.rmaNumber ?? last.text }}>
        <Waiting count={scans.filter(({ outcome }) => outcome === null).length} />
      </LastScan>
      <Stack gap="xs">
        <Group justify="space-between" gap="sm">
          <Text fw={600} role="status" className="tabular-numbers">
            {summaryOf(scans.map(({ outcome }) => outcome))}
          </Text>
          <Checkbox
            label="Sound"
            checked={sound.isOn}
            onChange={({ currentTarget }) => sound.turn(currentTarget.checked)}
          />
        </Group>
        <ScanList scans={scans} onRetry={scan} />
      </Stack>
    </PageFrame>
  );
};

const summaryOf = (outcomes: (Outcome | null)[]): string => {
  if (outcomes.length === 0) return 'Nothing was scanned yet';
  const done = outcomes.filter((outcome) => outcome?.isDone).length;
  const failed = outcomes.filter((outcome) => outcome && !outcome.isDone).length;
  return `${done} done${failed > 0 ? `, ${failed} not done` : ''}`;
};

const useJob = () => {
  const [of, setOf] = useState<BenchKind>(BENCH_KINDS[0] as BenchKind);
  // No scan counts before a move is chosen: one that was never meant cannot be undone.
  const [move, setMove] = useState<BenchMove | null>(null);
  const [values, setValues] = useState<Record<string, string>>({});
  const [errors, setErrors] = useState<Record<string, string>>({});
  const onMove = (next: BenchMove | null) => {
    setMove(next);
    setValues({});
    setErrors({});
  };
  return {
    of,
    move,
    values,
    errors,
    onMove,
    onKind: (next: BenchKind) => {
      setOf(next);
      onMove(null);
    },
    onValue: (name: string, value: string) => {
      setValues({ ...values, [name]: value });
      setErrors({});
    },
    /** The job, or null where an input is missing; then the inputs say so. */
    ready: (): Job | null => {
      if (!move) {
        setErrors({ move: 'Please choose one.' });
        return null;
      }
      const filled = Object.fromEntries(move.fields.map(({ name }) => [name, values[name] ?? '']));
      const schema = moveSchema(of.kind, move.action);
      const wrong = formErrors(schema, filled);
      setErrors(wrong);
      return Object.keys(wrong).length > 0 ? null : { of, move, body: schema.parse(filled) as MoveBody };
    },
  };
};

const CHOOSE = { value: '', label: 'Choose …' };

const JobInputs = ({ of, move, values, errors, onKind, onMove, onValue }: ReturnType<typeof useJob>) => (
  <Fieldset legend="Each scan does this">
    <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="sm" verticalSpacing="sm">
      <NativeSelect
        label="Kind"
        data={BENCH_KINDS.map(({ kind }) => kind.title)}
        value={of.kind.title}
        onKeyDown={chooseByArrowsOnly}
        onChange={({ currentTarget: { value } }) => {
          const chosen = BENCH_KINDS.find(({ kind }) => kind.title === value);
          if (chosen) onKind(chosen);
        }}
      />
      <NativeSelect
        label="Move"
        data={[CHOOSE, ...of.moves.map(({ action, label }) => ({ value: action, label }))]}
        value={move?.action ?? ''}
        error={errors['move']}
        onKeyDown={chooseByArrowsOnly}
        onChange={({ currentTarget: { value } }) => {
          onMove(of.moves.find(({ action }) => action === value) ?? null);
        }}
      />
      {move?.fields.map((field) => (
        <JobField
          key={field.name}
          field={field}
          value={values[field.name] ?? ''}
          error={errors[field.name]}
          onValue={(value) => onValue(field.name, value)}
        />
      ))}
    </SimpleGrid>
  </Fieldset>
);

interface JobFieldProps {
  field: MoveField;
  value: string;
  error: string | undefined;
  onValue(value: string): void;
}

const JobField = ({ field, value, error, onValue }: JobFieldProps) => {
  const props = {
    label: field.label,
    required: field.required,
    value,
    error,
    onChange: ({ currentTarget }: { currentTarget: { value: string } }) => onValue(currentTarget.value),
  };
  if (field.as === 'choice')
    return (
      <NativeSelect {...props} data={[CHOOSE, ...(field.choices ?? [])]} onKeyDown={chooseByArrowsOnly} />
    );
  return field.as === 'line' ? (
    <TextInput {...props} />
  ) : (
    <Textarea {...props} autosize minRows={1} maxRows={4} />
  );
};

const Waiting = ({ count }: { count: number }) =>
  count > 0 ? (
    <span className={styles['waiting']}>
      <Loader size="sm" aria-hidden /> {count} in progress
    </span>
  ) : null;

const ScanList = ({ scans, onRetry }: { scans: readonly Scan[]; onRetry(text: string): void }) => (
  <ol className={styles['scans']} aria-label="What was scanned, newest first">
    {scans.map(({ id, text, outcome }) => (
      <li key={id} data-state={outcome === null ? 'waiting' : outcome.isDone ? 'done' : 'failed'}>
        <Sign outcome={outcome} />
        <span className={styles['number']}>
          {outcome?.found && outcome.kind ? (
            <TextLink
              to={outcome.kind.detail}
              params={{ id: outcome.found.id }}
              target="_blank"
              title="Opens in a new tab"
              fw={600}
            >
              {outcome.found.rmaNumber}
            </TextLink>
          ) : (
            <bdi>{text}</bdi>
          )}
        </span>
        <span className={styles['message']}>
          {outcome?.message ?? 'In progress'}
          {outcome?.found ? (
            <small>
              <bdi>
                <OrErased>{outcome.found.customerName}</OrErased>
              </bdi>
            </small>
          ) : null}
        </span>
        {outcome && !outcome.isDone ? (
          <Button
            size="compact-sm"
            variant="default"
            onClick={() => onRetry(text)}
            aria-label={`Try again: ${text}`}
          >
            Try again
          </Button>
        ) : null}
      </li>
    ))}
  </ol>
);

const Sign = ({ outcome }: { outcome: Outcome | null }) => {
  if (outcome === null) return <Loader size={16} aria-label="In progress" role="img" />;
  return outcome.isDone ? (
    <CircleCheck size={18} aria-label="Done" role="img" />
  ) : (
    <CircleX size={18} aria-label="Not done" role="img" />
  );
};
