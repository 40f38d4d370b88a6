// What makes a sku dangerous, as the service works it out: an exact sku, or a prefix that ends in `*`; upper and lower
// case differ. Anywhere else a `*` is a plain character.

export const isPrefix = (rule: string): boolean => rule.endsWith('*');

const fits = (rule: string, sku: string): boolean =>
  rule === sku || (isPrefix(rule) && sku.startsWith(rule.slice(0, -1)));

export const ruleFor = (rules: readonly string[], sku: string): string | undefined =>
  rules.find((rule) => fits(rule, sku));

/** One that would fit if case did not matter: probably a slip. */
export const ruleButForCase = (rules: readonly string[], sku: string): string | undefined =>
  rules.find((rule) => fits(rule.toLowerCase(), sku.toLowerCase()));
