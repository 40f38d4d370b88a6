/** Characters (Unicode code points) a text may have: docs/contract.md. */
export const LENGTH = { reference: 128, name: 255, freeText: 5000 } as const;
