/** Who created a return, as lists call it. */
export const ORIGIN_LABELS = { API: 'Created by a program', STAFF: 'Created by staff' } as const;
