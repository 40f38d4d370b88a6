/** What the screen calls the fields that can be corrected. */
export const CORRECTED_LABELS = {
  companyName: 'Company',
  customerName: 'Customer',
  customerEmail: 'E-mail',
  customerPhone: 'Phone',
  serialNumber: 'Serial number',
} as const;
