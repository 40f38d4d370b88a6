/** Characters (Unicode code points) a text may have: contract §3. */
export const LENGTH = { reference: 128, name: 255, freeText: 5000 } as const;
