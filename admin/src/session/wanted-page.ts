/** Of the address of a page that stands before others: where to go from it. */
export const wantedPage = (search: Record<string, unknown>): { to?: string } =>
  typeof search['to'] === 'string' ? { to: search['to'] } : {};

/** Only an address of this app: a forged link must not lead elsewhere after the sign-in. */
export const addressOf = (to: string | undefined): string =>
  to?.startsWith('/') && !to.startsWith('//') ? `/admin${to}` : '/admin/';
