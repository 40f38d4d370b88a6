import { Alert, Stack, Textarea, TextInput } from '@mantine/core';
import type { UseFormReturnType } from '@mantine/form';
import { useDebouncedValue } from '@mantine/hooks';
import { queryOptions, useQuery } from '@tanstack/react-query';
import { type KeyboardEvent, useEffect, useEffectEvent, useRef, useState } from 'react';
import type { AdminOfflineRepair, FaultList } from '../../../../contract/admin-returns.ts';
import { DEFAULT_START_STATUS, START_STATUSES } from '../../../../contract/lifecycle.ts';
import { CreateOfflineRepair } from '../../../../contract/offline-repair.ts';
import { api } from '../../api.ts';
import { texts } from '../../texts.ts';
import { TextLink } from '../../ui/links.tsx';
import { readBrowser, writeBrowser } from '../../ui/tab-storage.ts';
import { describeStatus, REPAIRS } from '../kinds.ts';
import { fetchPage, type ListPage } from '../queries.ts';
import { ChoiceChips, Suggestions } from './chips.tsx';
import {
  DecimalInput,
  FieldGrid,
  FormSection,
  FULL_WIDTH,
  MoreFields,
  PriceInput,
  ReferenceInputs,
  ROW_ON_PHONE,
  typedPrice,
  useCurrency,
} from './form-inputs.tsx';
import styles from './intake.module.css';
import { itemsOf, type Known, knownRepairs, looksLike, looksLikeOrder } from './known.ts';
import { LookUp } from './look-up.tsx';
import { NewReturnForm } from './new-return-form.tsx';
import { numberOf, optionalNumberOf } from './read-number.ts';

const words = texts.intake;

const EMPTY = {
  orderNumber: '',
  customerEmail: '',
  customerName: '',
  customerPhone: '',
  faultyItem: {
    sku: '',
    productName: '',
    quantity: '1',
    price: '',
    serialNumber: '',
    variantTitle: '',
    weight: '',
  } satisfies Record<keyof CreateOfflineRepair['faultyItem'], unknown>,
  faultDescription: '',
  storeId: '',
  externalRef: '',
  externalSource: '',
  startStatus: DEFAULT_START_STATUS as string,
  replacementSku: '',
  notes: '',
  tracking: { trackingNumber: '', carrierName: '' },
} satisfies Record<keyof CreateOfflineRepair, unknown>;
type Values = typeof EMPTY;
type RepairForm = UseFormReturnType<Values>;

const bodyOf = ({ faultyItem, tracking, ...rest }: Values, decimals: number) => ({
  ...rest,
  faultyItem: {
    ...faultyItem,
    quantity: numberOf(faultyItem.quantity),
    price: numberOf(faultyItem.price, decimals),
    weight: optionalNumberOf(faultyItem.weight),
  },
  tracking: tracking.trackingNumber.trim() || tracking.carrierName.trim() ? tracking : null,
});

/** Remembered, because a counter stays in one store. */
const LAST_STORE = 'handback.last-store';
const initialValues = (): Values => ({ ...EMPTY, storeId: readBrowser(LAST_STORE) ?? '' });

export const NewRepairPage = () => {
  const { decimals } = useCurrency();
  return (
    <NewReturnForm<Values>
      kind={REPAIRS}
      schema={CreateOfflineRepair}
      initialValues={initialValues}
      bodyOf={(values) => bodyOf(values, decimals)}
      onCreated={({ storeId }) => writeBrowser(LAST_STORE, storeId.trim())}
      canPrint
    >
      {(form) => <Inputs form={form} decimals={decimals} />}
    </NewReturnForm>
  );
};

const Inputs = ({ form, decimals }: { form: RepairForm; decimals: number }) => {
  const [earlier, setEarlier] = useState<AdminOfflineRepair[]>([]);
  const fill = (values: Record<string, string | null>) => {
    for (const [path, value] of Object.entries(values)) form.setFieldValue(path, (value ?? '') as never);
  };
  const fillCustomer = (repair: AdminOfflineRepair) => {
    const { customerName, customerEmail, customerPhone, storeId } = repair;
    fill({ customerName, customerEmail, customerPhone });
    if (form.getValues().storeId === '') fill({ storeId });
  };
  const fillItem = ({ orderNumber, faultyItem }: AdminOfflineRepair) => {
    const { quantity: _, price, weight, ...item } = faultyItem;
    const filled = Object.entries({
      ...item,
      price: typedPrice(price, decimals),
      weight: weight === null ? '' : String(weight),
    }).map(([name, value]) => [`faultyItem.${name}`, value] as const);
    fill({ orderNumber, ...Object.fromEntries(filled) });
    setEarlier([]);
    form.getInputNode('faultDescription')?.focus();
  };
  const pick = ({ fills, item, earlier: before }: Known<AdminOfflineRepair>) => {
    fillCustomer(item);
    if (fills === 'item') fillItem(item);
    else setEarlier(itemsOf(before));
  };
  const { data: recent } = useQuery(recentQuery);
  const startNew = (typed: string) => {
    const field = {
      email: 'customerEmail',
      phone: 'customerPhone',
      other: looksLikeOrder(typed, recent?.items ?? []) ? 'orderNumber' : 'faultyItem.serialNumber',
    } as const;
    fill({ [field[looksLike(typed)]]: typed });
    form.getInputNode('customerName')?.focus();
  };
  return (
    <>
      <Stack gap="xs">
        <LookUp
          kind={REPAIRS}
          label={words.lookUpRepair}
          hint={words.lookUpHint}
          knownOf={knownRepairs}
          onPick={pick}
          onUnknown={startNew}
        />
        <EarlierItems items={earlier} onPick={fillItem} />
        <AlreadyHere serial={form.values.faultyItem.serialNumber} />
      </Stack>
      <div className={styles['columns']}>
        <CustomerInputs form={form} />
        <ItemInputs form={form} />
      </div>
      <FaultInputs form={form} />
      <RareInputs form={form} />
    </>
  );
};

/** As many as tell what this shop's order numbers look like. */
const RECENT = 20;
const recentQuery = queryOptions({
  queryKey: [REPAIRS.path, 'recent'],
  queryFn: ({ signal }) =>
    fetchPage<AdminOfflineRepair>(REPAIRS, { open: 'all', order: 'desc' }, RECENT, signal),
  staleTime: Number.POSITIVE_INFINITY,
  retry: false,
});

interface EarlierProps {
  items: readonly AdminOfflineRepair[];
  onPick(repair: AdminOfflineRepair): void;
}

const EarlierItems = ({ items, onPick }: EarlierProps) => {
  const chips = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (items.length > 0) chips.current?.querySelector('button')?.focus();
  }, [items]);
  if (items.length === 0) return null;
  return (
    <div ref={chips}>
      <Suggestions
        label={words.earlierItems}
        items={items.map(({ id, faultyItem: { productName, serialNumber } }) => ({
          key: id,
          label: productName,
          detail: serialNumber ?? undefined,
        }))}
        onPick={(index) => items[index] && onPick(items[index])}
      />
    </div>
  );
};

const PAUSE_MS = 300;

/** The same item may be in the shop already: one of two people took it in before. */
const AlreadyHere = ({ serial }: { serial: string }) => {
  const [serialNumber] = useDebouncedValue(serial.trim(), PAUSE_MS);
  const { data } = useQuery({
    queryKey: [REPAIRS.path, 'open', serialNumber],
    queryFn: () =>
      api.get<ListPage<AdminOfflineRepair>>(REPAIRS.path, { serialNumber, open: 'true', limit: 1 }),
    enabled: serialNumber !== '',
    retry: false,
  });
  const open = serialNumber === '' ? undefined : data?.items[0];
  return open ? (
    <Alert color="orange" role="alert" py="xs">
      {words.alreadyHere}{' '}
      <TextLink to={REPAIRS.detail} params={{ id: open.id }} inherit c="inherit" td="underline">
        {open.rmaNumber}
      </TextLink>
      , {describeStatus(open.status).label}
    </Alert>
  ) : null;
};

const CustomerInputs = ({ form: { getInputProps: input } }: { form: RepairForm }) => (
  <FormSection title={words.customer}>
    <TextInput label={words.name} required {...ROW_ON_PHONE} {...input('customerName')} />
    <TextInput label={words.email} type="email" required {...ROW_ON_PHONE} {...input('customerEmail')} />
    <TextInput label={words.phone} type="tel" {...input('customerPhone')} />
    <TextInput label={words.orderNumber} required {...input('orderNumber')} />
    <TextInput label={words.store} required {...FULL_WIDTH} {...input('storeId')} />
  </FormSection>
);

const ItemInputs = ({ form: { getInputProps: input } }: { form: RepairForm }) => (
  <FormSection title={words.item}>
    <TextInput label={words.serialNumber} {...input('faultyItem.serialNumber')} />
    <TextInput label={words.sku} required {...input('faultyItem.sku')} />
    <TextInput label={words.product} required {...FULL_WIDTH} {...input('faultyItem.productName')} />
    <PriceInput label={words.unitPrice} required {...input('faultyItem.price')} />
    <DecimalInput label={words.quantity} required {...input('faultyItem.quantity')} />
  </FormSection>
);

const useFrequentFaults = (typed: string): string[] => {
  const [sku] = useDebouncedValue(typed.trim(), PAUSE_MS);
  const { data } = useQuery({
    queryKey: ['faults', sku],
    queryFn: () => api.get<FaultList>('/faults', { sku }),
    enabled: sku !== '',
    staleTime: 60_000,
    // They save typing; without them it works too.
    retry: false,
  });
  return sku === '' ? [] : (data?.items.map(({ text }) => text) ?? []);
};

/** Apple's keyboards type letters with it, so the key counts, not its letter. */
const DIGIT = /^Digit([1-6])$/;
const ALT = /^(Mac|iP)/.test(navigator.platform) ? '⌥' : 'Alt ';

const FaultInputs = ({ form }: { form: RepairForm }) => {
  const { getInputProps: input, values } = form;
  const faults = useFrequentFaults(values.faultyItem.sku);
  const focus = () => form.getInputNode('faultDescription')?.focus();
  const pick = (index: number) => {
    const fault = faults[index];
    const before = values.faultDescription.trim();
    if (fault === undefined) return;
    if (!before.includes(fault))
      form.setFieldValue('faultDescription', before ? `${before}; ${fault}` : fault);
    focus();
  };
  useAltDigit((digit) => pick(digit - 1));
  const goToChips = (event: KeyboardEvent<HTMLTextAreaElement>) => {
    if (event.key !== 'ArrowDown' || values.faultDescription !== '') return;
    const chip = event.currentTarget
      .closest('section')
      ?.querySelector<HTMLElement>('[data-suggestions] button');
    chip?.focus();
  };
  const isSwapped = values.startStatus === 'COUNTER_SWAPPED';
  return (
    <FieldGrid>
      <Textarea
        label={words.whatIsWrong}
        required
        minRows={2}
        {...FULL_WIDTH}
        onKeyDown={goToChips}
        {...input('faultDescription')}
      />
      {faults.length > 0 ? (
        <div>
          <Suggestions
            label={words.frequentFaults}
            hint={words.frequentHint(ALT)}
            items={faults.map((fault, index) => ({ key: fault, label: fault, detail: String(index + 1) }))}
            onPick={pick}
            onLeave={focus}
          />
        </div>
      ) : null}
      <ChoiceChips
        label={words.startStatus}
        choices={[...START_STATUSES].reverse().map((status) => ({
          value: status,
          label: describeStatus(status).label,
          title: words.startHints[status],
        }))}
        {...input('startStatus')}
      />
      {isSwapped ? <ReplacementInput form={form} /> : null}
    </FieldGrid>
  );
};

/** With a swap at the counter it is likely, else it is rare. */
const ReplacementInput = ({ form }: { form: RepairForm }) => (
  <TextInput
    label={words.replacementSku}
    description={words.replacementHint}
    {...form.getInputProps('replacementSku')}
  />
);

const useAltDigit = (onDigit: (digit: number) => void): void => {
  const pressed = useEffectEvent(onDigit);
  useEffect(() => {
    const onKeyDown = (event: globalThis.KeyboardEvent) => {
      const digit = event.altKey ? DIGIT.exec(event.code)?.[1] : undefined;
      if (digit === undefined) return;
      event.preventDefault();
      pressed(Number(digit));
    };
    document.addEventListener('keydown', onKeyDown);
    return () => document.removeEventListener('keydown', onKeyDown);
  }, []);
};

const RARE = [
  'faultyItem.variantTitle',
  'faultyItem.weight',
  'notes',
  'tracking',
  'external',
  'replacementSku',
];

const RareInputs = ({ form }: { form: RepairForm }) => {
  const { getInputProps: input, values } = form;
  return (
    <MoreFields form={form} fields={RARE}>
      <Textarea label={words.notes} description={words.notesHint} {...FULL_WIDTH} {...input('notes')} />
      <TextInput label={words.variant} {...input('faultyItem.variantTitle')} />
      <DecimalInput label={words.weight} {...input('faultyItem.weight')} />
      <TextInput label={words.trackingNumber} {...input('tracking.trackingNumber')} />
      <TextInput label={words.carrier} {...input('tracking.carrierName')} />
      <ReferenceInputs input={input} />
      {values.startStatus === 'COUNTER_SWAPPED' ? null : <ReplacementInput form={form} />}
    </MoreFields>
  );
};
