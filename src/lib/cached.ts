/** Returns the cached value or creates it. A full cache is cleared, since values in use soon return. */
export const cached = <Value>(
  cache: Map<string, Value>,
  key: string,
  create: () => Value,
  most = 1_000,
): Value => {
  const known = cache.get(key);
  if (known !== undefined) return known;
  if (cache.size >= most) cache.clear();
  const created = create();
  cache.set(key, created);
  return created;
};
