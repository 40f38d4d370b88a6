/** What a cache knows, or what is created for it now. A cache that is full forgets all: what is in use soon comes back. */
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
