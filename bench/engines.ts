export const ENGINES = ['postgres', 'sqlite'] as const;
export type Engine = (typeof ENGINES)[number];
