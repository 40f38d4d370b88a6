/** Characters (Unicode code points) a text may have: docs/guide/limits.md. */
export const LENGTH = { reference: 128, name: 255, freeText: 5000 } as const;
