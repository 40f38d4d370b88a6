import { Box, Button, Checkbox, Group, Loader, SimpleGrid, Stack, Text, TextInput } from '@mantine/core';
import { CircleCheck, CircleX, Undo2 } from 'lucide-react';
import { useRef, useState } from 'react';
import { StatusBadge } from '../returns/badges.tsx';
import { describeStatus, KIND_OF, KINDS } from '../returns/kinds.ts';
import { ChoiceChips } from '../returns/new/chips.tsx';
import { PersonSelect } from '../returns/person-select.tsx';
import { PaperSelect } from '../returns/print/slips.tsx';
import { useBlocked } from '../session/blocked.tsx';
import { texts } from '../texts.ts';
import { ButtonLink, TextLink } from '../ui/links.tsx';
import { PageFrame } from '../ui/page-frame.tsx';
import { LastScan, ScanField, useSound } from '../ui/scanning.tsx';
import { OrErased } from '../ui/two-lines.tsx';
import { actionOf, actionsOf, type Job, type Outcome, type Scanned } from './actions.ts';
import { Camera } from './camera.tsx';
import styles from './scan-station.module.css';
import { type Scan, type Station, useStation } from './scans.ts';

const words = texts.station;

export const ScanStationPage = () => {
  const sound = useSound();
  const field = useRef<HTMLInputElement>(null);
  const [turn, setTurn] = useState(0);
  const blocked = useBlocked();
  const station = useStation((outcome) => {
    setTurn((before) => before + 1);
    sound.play(outcome.isDone ? 'done' : 'failed');
  }, blocked);
  const { scans, add } = station;
  return (
    <PageFrame title={words.title} intro={words.intro}>
      <JobInputs
        station={station}
        onChosen={() => {
          // On a phone the focus would open the keyboard over the camera.
          if (!window.matchMedia('(pointer: coarse)').matches) field.current?.focus();
        }}
      />
      <Stack gap="xs">
        <ScanField field={field} label={words.scan} description={words.scanHint} onScan={add} />
        <Camera onScan={add} />
      </Stack>
      <LastOutcome station={station} turn={turn} />
      <Stack gap="xs">
        <Group justify="space-between" gap="sm">
          <Text fw={600} role="status" className="tabular-numbers">
            {summaryOf(scans)}
          </Text>
          <Group gap="md">
            <ListButtons station={station} />
            <Checkbox
              label={words.sound}
              checked={sound.isOn}
              onChange={({ currentTarget }) => sound.turn(currentTarget.checked)}
            />
          </Group>
        </Group>
        <ScanList scans={scans} onRetry={(scan) => station.retry([scan])} />
      </Stack>
      {station.printer.slips}
    </PageFrame>
  );
};

const failedOf = (scans: readonly Scan[]): Scan[] =>
  scans.filter(({ outcome }) => outcome && !outcome.isDone);

const summaryOf = (scans: readonly Scan[]): string =>
  scans.length === 0
    ? words.nothing
    : words.summary(scans.filter(({ outcome }) => outcome?.isDone).length, failedOf(scans).length);

const ListButtons = ({ station: { scans, retry, clear } }: { station: Station }) => {
  const failed = failedOf(scans);
  if (scans.length === 0) return null;
  return (
    <>
      {failed.length > 1 ? (
        <Button size="compact-sm" variant="default" onClick={() => retry(failed.toReversed())}>
          {words.retryAll}
        </Button>
      ) : null}
      <Button size="compact-sm" variant="subtle" color="gray" onClick={clear}>
        {words.clear}
      </Button>
    </>
  );
};

interface JobProps {
  station: Station;
  /** All is said: what comes next is a scan. */
  onChosen(): void;
}

/** On a phone what is chosen takes one line, so that the last scan is in sight. */
const JobInputs = ({ station: { job, errors, choose, printer }, onChosen }: JobProps) => {
  const action = actionOf(job);
  const [isOpen, setOpen] = useState(!action);
  const set = (name: string, value: string) => choose({ values: { ...job.values, [name]: value } });
  return (
    <Stack gap="sm" role="group" aria-label={words.job}>
      {action ? (
        <Group hiddenFrom="xs" justify="space-between" wrap="nowrap">
          <Text fw={500}>{words.chosen(KIND_OF[job.type].title, action.label)}</Text>
          <Button variant="default" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
            {words.change}
          </Button>
        </Group>
      ) : null}
      <Stack gap="sm" visibleFrom={isOpen || !action ? undefined : 'xs'}>
        <ChoiceChips
          label={words.type}
          choices={KINDS.map(({ savedKind, title }) => ({ value: savedKind, label: title }))}
          value={job.type}
          onChange={(type) => choose({ type: type as Job['type'], action: '', values: {} })}
        />
        <ChoiceChips
          label={words.job}
          choices={actionsOf(job.type).map(({ name, label }) => ({ value: name, label }))}
          value={job.action}
          error={errors['action']}
          onChange={(name, byPointer) => {
            choose({ action: name, values: {} });
            setOpen(!byPointer);
            const needed = actionOf({ ...job, action: name })?.fields.some(({ required }) => required);
            if (byPointer && !needed) onChosen();
          }}
        />
      </Stack>
      {action && action.fields.length > 0 ? (
        <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="sm" verticalSpacing="sm">
          {action.fields.map((each) => (
            <Box
              key={each.name}
              visibleFrom={isOpen || each.required || errors[each.name] ? undefined : 'xs'}
            >
              <JobField
                field={each}
                value={job.values[each.name] ?? ''}
                error={errors[each.name]}
                onValue={(value) => set(each.name, value)}
                onChosen={onChosen}
              />
            </Box>
          ))}
        </SimpleGrid>
      ) : null}
      {job.action === 'print' ? <PaperSelect paper={printer.paper} label={words.paper} maw="14rem" /> : null}
    </Stack>
  );
};

interface JobFieldProps {
  field: NonNullable<ReturnType<typeof actionOf>>['fields'][number];
  value: string;
  error: string | undefined;
  onValue(value: string): void;
  onChosen(): void;
}

const JobField = ({ field, value, error, onValue, onChosen }: JobFieldProps) => {
  const { label, required } = field;
  if (field.as === 'choice')
    return (
      <ChoiceChips
        label={label}
        choices={field.choices ?? []}
        value={value}
        error={error}
        onChange={(chosen, byPointer) => {
          onValue(chosen);
          if (byPointer) onChosen();
        }}
      />
    );
  if (field.as === 'person')
    return (
      <PersonSelect
        label={label}
        placeholder={words.pickPerson}
        required
        value={value || null}
        error={error}
        onChange={(person) => {
          onValue(person);
          onChosen();
        }}
      />
    );
  return (
    <TextInput
      label={label}
      required={required}
      type={field.as === 'date' ? 'date' : 'text'}
      value={value}
      error={error}
      onChange={({ currentTarget }) => onValue(currentTarget.value)}
    />
  );
};

const inNewTab = (type: Job['type'], { id }: Scanned) =>
  ({ to: KIND_OF[type].detail, params: { id }, target: '_blank', title: words.newTab }) as const;

/** What became of the scan that was processed last, with the item. */
const LastOutcome = ({ station, turn }: { station: Station; turn: number }) => {
  const { scans, last, undo } = station;
  const waiting = scans.filter(({ outcome }) => outcome === null).length;
  const outcome = last?.outcome;
  const scanned = outcome?.scanned;
  return (
    <LastScan
      turn={turn}
      ready={station.job.action === '' ? words.required : words.ready}
      last={last && outcome ? { ...outcome, text: scanned?.rmaNumber ?? last.text } : null}
      details={scanned ? <ScannedFacts scanned={scanned} message={outcome.message} /> : null}
    >
      {waiting > 0 ? (
        <span className={styles['waiting']}>
          <Loader size="sm" aria-hidden /> {words.countInProgress(waiting)}
        </span>
      ) : null}
      {last && outcome?.back ? (
        <Button variant="default" leftSection={<Undo2 />} onClick={() => undo(last)}>
          {words.undo}
        </Button>
      ) : null}
      {scanned && outcome?.type ? (
        <ButtonLink variant="default" {...inNewTab(outcome.type, scanned)}>
          {words.open}
        </ButtonLink>
      ) : null}
    </LastScan>
  );
};

const ScannedFacts = ({ scanned, message }: { scanned: Scanned; message: string }) => (
  <div className={styles['facts']}>
    {message === describeStatus(scanned.status).label ? null : <StatusBadge status={scanned.status} />}
    <bdi className={styles['item']}>{scanned.item}</bdi>
    <bdi className={styles['fault']}>
      <OrErased>{scanned.fault}</OrErased>
    </bdi>
    <bdi>
      <OrErased>{scanned.customer}</OrErased>
    </bdi>
  </div>
);

const ScanList = ({ scans, onRetry }: { scans: readonly Scan[]; onRetry(scan: Scan): void }) => (
  <ol className={styles['scans']} aria-label={words.scans}>
    {scans.map((scan) => {
      const { id, text, outcome } = scan;
      const scanned = outcome?.scanned;
      return (
        <li key={id} data-state={outcome === null ? 'waiting' : outcome.isDone ? 'done' : 'failed'}>
          <Sign outcome={outcome} />
          <span className={styles['number']}>
            {scanned && outcome.type ? (
              <TextLink {...inNewTab(outcome.type, scanned)}>{scanned.rmaNumber}</TextLink>
            ) : (
              <bdi>{text}</bdi>
            )}
          </span>
          <span className={styles['message']}>
            {outcome?.message ?? words.inProgress}
            {scanned ? (
              <small>
                <bdi>{scanned.item}</bdi> ·{' '}
                <bdi>
                  <OrErased>{scanned.customer}</OrErased>
                </bdi>
              </small>
            ) : null}
          </span>
          {outcome && !outcome.isDone ? (
            <Button
              size="compact-sm"
              variant="default"
              onClick={() => onRetry(scan)}
              aria-label={words.retryOne(text)}
            >
              {words.retry}
            </Button>
          ) : null}
        </li>
      );
    })}
  </ol>
);

const Sign = ({ outcome }: { outcome: Outcome | null }) => {
  if (outcome === null) return <Loader size={16} aria-label={words.inProgress} role="img" />;
  return outcome.isDone ? (
    <CircleCheck size={18} aria-label={words.done} role="img" />
  ) : (
    <CircleX size={18} aria-label={words.failed} role="img" />
  );
};
