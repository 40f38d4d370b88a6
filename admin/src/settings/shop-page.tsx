import {
  Button,
  FileButton,
  Group,
  Input,
  NativeSelect,
  SimpleGrid,
  Stack,
  Text,
  Textarea,
  TextInput,
  Title,
} from '@mantine/core';
import type { UseFormReturnType } from '@mantine/form';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { PICTURE_TYPES, type PictureType, pictureSize } from '../../../contract/picture.ts';
import {
  isLogoSize,
  LOGO_BYTES,
  LOGO_TYPES,
  ReplaceShopSettings,
  type ShopSettings,
} from '../../../contract/shop-settings.ts';
import { api } from '../api.ts';
import { shopSettingsQuery } from '../shop-queries.ts';
import { useApiForm } from '../ui/forms/api-form.ts';
import { notifyDone } from '../ui/notify.ts';
import { PageFrame, useUnsavedWarning } from '../ui/page-frame.tsx';
import { ErrorAlert, QueryView } from '../ui/query-view.tsx';
import { Slip, type SlipData } from '../ui/slip/slip.tsx';
import styles from './slip-preview.module.css';

export const ShopPage = () => {
  const saved = useQuery(shopSettingsQuery);
  return (
    <PageFrame
      title="Shop"
      intro="What customers see on the slips they take home, and the currency and time zone that the app shows."
    >
      <QueryView query={saved}>{(settings) => <Editor saved={settings} />}</QueryView>
    </PageFrame>
  );
};

const Editor = ({ saved }: { saved: ShopSettings }) => {
  const queryClient = useQueryClient();
  const { form, onSubmit, resetTo, busy, failure } = useApiForm({
    schema: ReplaceShopSettings,
    initialValues: valuesFrom(saved),
    bodyOf: settingsFrom,
    send: (body) => api.put<ShopSettings>('/shop-settings', body),
    onDone: (answer) => {
      queryClient.setQueryData(shopSettingsQuery.queryKey, answer);
      resetTo(valuesFrom(answer));
      notifyDone('The shop’s settings are saved.');
    },
  });
  const isChanged = form.isDirty();
  useUnsavedWarning(isChanged, 'settings');
  return (
    <SimpleGrid cols={{ base: 1, lg: 2 }} spacing="xl">
      <form onSubmit={onSubmit} noValidate>
        <Stack>
          <Inputs form={form} shopName={saved.shopName} />
          {failure ? <ErrorAlert title="Not saved yet; what you typed is kept" error={failure} /> : null}
          <Group justify="flex-end">
            <Button type="submit" loading={busy} disabled={!isChanged}>
              Save
            </Button>
          </Group>
        </Stack>
      </form>
      <div>
        <Title order={3} size="h5" mb={4}>
          Preview
        </Title>
        <Text size="sm" c="dimmed" mb="sm">
          A slip of a made-up repair.
        </Text>
        <SlipPreview settings={{ ...saved, ...settingsFrom(form.values) }} />
      </div>
    </SimpleGrid>
  );
};

const Inputs = ({ form, shopName }: { form: UseFormReturnType<ShopValues>; shopName: string }) => (
  <>
    <TextInput
      label="Name"
      description="On slips; empty for the shop’s own name."
      placeholder={shopName}
      {...form.getInputProps('name')}
    />
    <Textarea
      label="Address"
      description="Line by line, as on a letter."
      autosize
      minRows={3}
      maxRows={8}
      {...form.getInputProps('address')}
    />
    <SimpleGrid cols={{ base: 1, sm: 2 }}>
      <TextInput label="Phone" {...form.getInputProps('phone')} />
      <TextInput label="E-mail" type="email" {...form.getInputProps('email')} />
      <NativeSelect
        label="Currency"
        data={currencyChoices(form.values.currency)}
        {...form.getInputProps('currency')}
      />
      <NativeSelect
        label="Time zone"
        data={timeZoneChoices(form.values.timeZone)}
        {...form.getInputProps('timeZone')}
      />
    </SimpleGrid>
    <Textarea
      label="Text on slips"
      description="Terms, opening hours, how long a repair takes."
      autosize
      minRows={3}
      maxRows={10}
      {...form.getInputProps('slipText')}
    />
    <LogoInput
      value={form.values.logo}
      error={form.errors['logo']}
      onChange={(logo) => form.setFieldValue('logo', logo)}
    />
  </>
);

const TEXTS = ['name', 'phone', 'email', 'currency', 'timeZone', 'slipText', 'logo'] as const;
type Texts<Value> = Record<(typeof TEXTS)[number], Value>;
/** The settings as inputs hold them: texts, where nothing is an empty one. */
type ShopValues = Texts<string> & { address: string };

const mapTexts = <From, To>(values: Texts<From>, map: (value: From) => To): Texts<To> =>
  Object.fromEntries(TEXTS.map((name) => [name, map(values[name])])) as Texts<To>;

const valuesFrom = (settings: ShopSettings): ShopValues => ({
  ...mapTexts<string | null, string>(settings, (text) => text ?? ''),
  address: settings.address.join('\n'),
});

const settingsFrom = (values: ShopValues): Omit<ShopSettings, 'shopName'> => ({
  ...mapTexts(values, (text) => (text.trim() === '' ? null : text)),
  address: values.address
    .split('\n')
    .map((line) => line.trim())
    .filter(Boolean),
});

/** What is set stays in the list, also where this browser does not know it. */
const choicesOf = (known: readonly string[], present: string, labelOf: (value: string) => string) => [
  { value: '', label: 'Not set' },
  ...known.map((value) => ({ value, label: labelOf(value) })),
  ...(present === '' || known.includes(present) ? [] : [{ value: present, label: present }]),
];

const currencyNames = new Intl.DisplayNames('en', { type: 'currency' });
const currencyChoices = (present: string) =>
  choicesOf(Intl.supportedValuesOf('currency'), present, (code) => `${code} – ${currencyNames.of(code)}`);

const TIME_ZONES = ['UTC', ...Intl.supportedValuesOf('timeZone').filter((name) => name !== 'UTC')];
const timeZoneChoices = (present: string) =>
  choicesOf(TIME_ZONES, present, (name) => name.replaceAll('_', ' '));

const EXAMPLE: Omit<SlipData, 'createdAt'> = {
  heading: 'Repair',
  rmaNumber: '#RMA-000123',
  warning: null,
  customer: 'Ada Pereira',
  subject: 'Kettle 1.7 l',
  fault: 'Does not heat up any more',
  facts: [
    ['Customer', 'Ada Pereira\n+44 20 7946 0018'],
    ['Order', 'SO-10042'],
    ['Item', 'Kettle 1.7 l\nBrushed steel'],
    ['Serial number', 'SN-448120'],
    ['Fault', 'Does not heat up any more'],
  ],
  items: [],
};

const SlipPreview = ({ settings }: { settings: ShopSettings }) => (
  <div className={styles['preview']}>
    <Slip
      letterhead={settings}
      slip={{ ...EXAMPLE, createdAt: new Date().toISOString() }}
      size="a5"
      copy="customer"
    />
  </div>
);

interface Props {
  /** A data URL, or empty. */
  value: string;
  error: ReactNode;
  onChange(logo: string): void;
}

const LogoInput = ({ value, error, onChange }: Props) => {
  const [failure, setFailure] = useState<string | null>(null);
  const read = async (file: File | null) => {
    if (!file) return;
    const logo = await logoFrom(file);
    setFailure(logo === null ? 'This file is damaged, or it is no picture. Choose another one.' : null);
    if (logo !== null) onChange(logo);
  };
  return (
    <Input.Wrapper
      label="Logo"
      labelElement="div"
      description={`PNG, JPEG or WebP. Larger than ${LOGO_BYTES / 1000} kB is made smaller.`}
      error={failure ?? error}
    >
      <Group mt={6} gap="sm">
        {value ? (
          <img
            src={value}
            alt="The shop’s logo"
            style={{ background: '#fff', borderRadius: 4, maxHeight: 56, maxWidth: 180, padding: 4 }}
          />
        ) : null}
        <FileButton onChange={(file) => void read(file)} accept={LOGO_TYPES.join()}>
          {(props) => (
            <Button variant="default" size="xs" {...props}>
              {value ? 'Replace the logo' : 'Choose a logo'}
            </Button>
          )}
        </FileButton>
        {value ? (
          <Button variant="subtle" size="xs" onClick={() => onChange('')}>
            Remove
          </Button>
        ) : null}
      </Group>
    </Input.Wrapper>
  );
};

/** Wide enough for print, small enough for the limit. */
const SIDES = [1000, 700, 480, 320];
const JPEG_QUALITY = 0.85;

const dataUrlOf = (blob: Blob): Promise<string> =>
  new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(String(reader.result));
    reader.onerror = () => reject(reader.error);
    reader.readAsDataURL(blob);
  });

const drawn = (picture: ImageBitmap, side: number, type: string): Promise<Blob | null> => {
  const canvas = document.createElement('canvas');
  const scale = Math.min(1, side / Math.max(picture.width, picture.height));
  canvas.width = Math.max(1, Math.round(picture.width * scale));
  canvas.height = Math.max(1, Math.round(picture.height * scale));
  canvas.getContext('2d')?.drawImage(picture, 0, 0, canvas.width, canvas.height);
  return new Promise((resolve) => canvas.toBlob(resolve, type, JPEG_QUALITY));
};

/** Browsers draw what they can of a damaged file, so its bytes are looked at first. */
const isDamaged = async (file: File): Promise<boolean> =>
  isUsedAsItIs(file.type) && pictureSize(new Uint8Array(await file.arrayBuffer()), file.type) === null;

const isUsedAsItIs = (type: string): type is PictureType => (PICTURE_TYPES as string[]).includes(type);

/** The picture in a file as a data URL, made smaller where it is too large; null where it cannot be read. */
const logoFrom = async (file: File): Promise<string | null> => {
  if (await isDamaged(file)) return null;
  const picture = await createImageBitmap(file).catch(() => null);
  if (!picture) return null;
  if (isUsedAsItIs(file.type) && file.size <= LOGO_BYTES && isLogoSize(picture)) return dataUrlOf(file);
  const type = file.type === 'image/jpeg' ? 'image/jpeg' : 'image/png';
  for (const side of SIDES) {
    const smaller = await drawn(picture, side, type);
    if (smaller && smaller.size <= LOGO_BYTES) return dataUrlOf(smaller);
  }
  return null;
};
