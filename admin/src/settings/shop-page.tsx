import { Button, FileButton, Group, Input, SimpleGrid, Stack, Textarea, TextInput } from '@mantine/core';
import type { UseFormReturnType } from '@mantine/form';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import {
  isLogoSize,
  LOGO_BYTES,
  LOGO_TYPES,
  ReplaceShopSettings,
  type ShopSettings,
} from '../../../contract/shop-settings.ts';
import { api } from '../api.ts';
import { CurrencyInput, TimeZoneInput } from '../session/region-inputs.tsx';
import { shopSettingsQuery } from '../shop-queries.ts';
import { texts } from '../texts.ts';
import { useApiForm } from '../ui/forms/api-form.ts';
import { notifyDone } from '../ui/notify.ts';
import { PageFrame, Section } from '../ui/page-frame.tsx';
import { ErrorAlert, QueryView } from '../ui/query-view.tsx';
import { SaveBar } from '../ui/save-bar.tsx';
import { Slip, type SlipData } from '../ui/slip/slip.tsx';
import styles from './slip-preview.module.css';

const t = texts.settings;

export const ShopPage = () => {
  const saved = useQuery(shopSettingsQuery);
  return (
    <PageFrame title={t.shop} intro={t.shopIntro}>
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
    onDone: (result) => {
      queryClient.setQueryData(shopSettingsQuery.queryKey, result);
      resetTo(valuesFrom(result));
      notifyDone(t.shopSaved);
    },
  });
  return (
    <form onSubmit={onSubmit} noValidate>
      <Stack gap="lg">
        <div className={styles['columns']}>
          <Stack gap="lg">
            <Inputs form={form} shopName={saved.shopName} />
          </Stack>
          <div className={styles['beside']}>
            <Section title={t.sampleSlip}>
              <div className={styles['preview']}>
                <Slip
                  letterhead={{ ...saved, ...settingsFrom(form.values) }}
                  slip={{ ...EXAMPLE, createdAt: new Date().toISOString() }}
                  size="a5"
                  copy="customer"
                />
              </div>
            </Section>
          </div>
        </div>
        {failure ? <ErrorAlert title={t.shopNotSaved} error={failure} /> : null}
        <SaveBar
          isChanged={form.isDirty()}
          busy={busy}
          what={t.unsavedShop}
          onDiscard={() => resetTo(valuesFrom(saved))}
        />
      </Stack>
    </form>
  );
};

const Inputs = ({ form, shopName }: { form: UseFormReturnType<ShopValues>; shopName: string }) => (
  <>
    <Section title={t.onSlips}>
      <Stack>
        <TextInput
          label={t.name}
          description={t.nameHint}
          placeholder={shopName}
          {...form.getInputProps('name')}
        />
        <Textarea
          label={t.address}
          description={t.addressHint}
          minRows={3}
          maxRows={8}
          {...form.getInputProps('address')}
        />
        <SimpleGrid cols={{ base: 1, sm: 2 }}>
          <TextInput label={t.phone} {...form.getInputProps('phone')} />
          <TextInput label={t.email} type="email" {...form.getInputProps('email')} />
        </SimpleGrid>
        <Textarea
          label={t.slipText}
          description={t.slipTextHint}
          minRows={3}
          {...form.getInputProps('slipText')}
        />
        <LogoInput
          value={form.values.logo}
          error={form.errors['logo']}
          onChange={(logo) => form.setFieldValue('logo', logo)}
        />
      </Stack>
    </Section>
    <Section title={t.region}>
      <SimpleGrid cols={{ base: 1, sm: 2 }}>
        <CurrencyInput {...form.getInputProps('currency')} />
        <TimeZoneInput {...form.getInputProps('timeZone')} />
      </SimpleGrid>
    </Section>
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

const EXAMPLE: Omit<SlipData, 'createdAt'> = {
  rmaNumber: '#RMA-000123',
  warning: null,
  heading: t.sample.heading,
  customer: t.sample.customer,
  subject: t.sample.item,
  fault: t.sample.fault,
  facts: t.sample.facts,
  items: [],
};

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
    setFailure(logo === null ? t.logoDamaged : null);
    if (logo !== null) onChange(logo);
  };
  return (
    <Input.Wrapper label={t.logo} labelElement="div" description={t.logoHint} error={failure ?? error}>
      <Group mt={6} gap="sm">
        {value ? (
          <img
            src={value}
            alt={t.logoAlt}
            style={{ background: '#fff', borderRadius: 4, maxHeight: 56, maxWidth: 180, padding: 4 }}
          />
        ) : null}
        <FileButton onChange={(file) => void read(file)} accept={LOGO_TYPES.join()}>
          {(props) => (
            <Button variant="default" size="xs" {...props}>
              {value ? t.replaceLogo : t.chooseLogo}
            </Button>
          )}
        </FileButton>
        {value ? (
          <Button variant="subtle" size="xs" onClick={() => onChange('')}>
            {t.remove}
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

const isUsedAsItIs = (type: string): boolean => (LOGO_TYPES as string[]).includes(type);

/**
 * The picture in a file as a data URL, made smaller if it is too large; null if it is damaged. An `img` would display the first half
 * of a truncated file without an error; `createImageBitmap` rejects it.
 */
const logoFrom = async (file: File): Promise<string | null> => {
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
