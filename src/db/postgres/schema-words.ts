export const SCHEMA_WORDS = { id: 'uuid', unlogged: true, trigrams: true } as const;
