export const SCHEMA_WORDS = { id: 'text', unlogged: false, trigrams: false } as const;
