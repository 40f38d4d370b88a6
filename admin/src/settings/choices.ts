interface Choice {
  value: string;
  label: string;
}

const NONE: Choice = { value: '', label: 'Not set' };

/** The value that is set stays in the list, also where this browser does not know it. */
const withPresent = (choices: Choice[], present: string): Choice[] =>
  present === '' || choices.some(({ value }) => value === present)
    ? choices
    : [...choices, { value: present, label: present }];

const currencyNames = new Intl.DisplayNames('en', { type: 'currency' });

export const currencyChoices = (present: string): Choice[] =>
  withPresent(
    [
      NONE,
      ...Intl.supportedValuesOf('currency').map((code) => ({
        value: code,
        label: `${code} – ${currencyNames.of(code) ?? code}`,
      })),
    ],
    present,
  );

export const timeZoneChoices = (present: string): Choice[] =>
  withPresent(
    [
      NONE,
      ...['UTC', ...Intl.supportedValuesOf('timeZone').filter((name) => name !== 'UTC')].map((name) => ({
        value: name,
        label: name.replaceAll('_', ' '),
      })),
    ],
    present,
  );
