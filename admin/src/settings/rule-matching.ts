// What makes a sku dangerous, as the service works it out: an exact sku, or a prefix that ends in `*`; upper and lower
// case differ. Anywhere else a `*` is a plain character.

export const isPrefixRule = (rule: string): boolean => rule.endsWith('*');

const fits = (rule: string, sku: string): boolean =>
  rule === sku || (isPrefixRule(rule) && sku.startsWith(rule.slice(0, -1)));

export const matchingRule = (rules: readonly string[], sku: string): string | undefined =>
  rules.find((rule) => fits(rule, sku));

/** One that would fit if case did not matter: probably a slip. */
export const ruleMatchingWithoutCase = (rules: readonly string[], sku: string): string | undefined =>
  rules.find((rule) => fits(rule.toLowerCase(), sku.toLowerCase()));
