/** The maximum length of a text in characters (Unicode code points, docs/guide/limits.md). */
export const LENGTH = { reference: 128, name: 255, freeText: 5000 } as const;
