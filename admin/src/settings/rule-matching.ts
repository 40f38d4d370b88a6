// Matches a sku against the rules as the service does: a rule is an exact sku, or a prefix that ends in `*`. Case matters.
// A `*` anywhere else is an ordinary character.

export const isPrefixRule = (rule: string): boolean => rule.endsWith('*');

const matches = (rule: string, sku: string): boolean =>
  rule === sku || (isPrefixRule(rule) && sku.startsWith(rule.slice(0, -1)));

export const matchingRule = (rules: readonly string[], sku: string): string | undefined =>
  rules.find((rule) => matches(rule, sku));

/** A rule that differs from the sku in upper and lower case only: probably a typing error. */
export const ruleMatchingWithoutCase = (rules: readonly string[], sku: string): string | undefined =>
  rules.find((rule) => matches(rule.toLowerCase(), sku.toLowerCase()));
