/** The papers that slips are made for. */
export const SLIP_SIZES = {
  a4: { label: 'A4' },
  a5: { label: 'A5' },
  label: { label: 'Label 62 × 100 mm' },
} as const;
export type SlipSize = keyof typeof SLIP_SIZES;

const NOTE = 'handback.slip-size';

/** The size that was chosen last on this computer: it has the printer. */
export const lastSlipSize = (): SlipSize => {
  const noted = localStorage.getItem(NOTE) ?? '';
  return noted in SLIP_SIZES ? (noted as SlipSize) : 'a4';
};
export const rememberSlipSize = (size: SlipSize): void => localStorage.setItem(NOTE, size);
