import { isDeepStrictEqual } from 'node:util';
import type { Json } from './json.ts';

/**
 * The library lists every schema twice, as `X` for answers and `XInput` for bodies. This keeps only the schemas that the
 * paths use, and renames `XInput` to `X` where `X` itself is not used or says the same.
 */
export const withNeededSchemas = (document: Json): Json => {
  const { schemas } = document.components;
  const needed = new Set<string>();
  const follow = (part: unknown): void => {
    for (const [, name] of JSON.stringify(part).matchAll(/"#\/components\/schemas\/(\w+)"/g)) {
      if (!name || needed.has(name)) continue;
      needed.add(name);
      follow(schemas[name]);
    }
  };
  follow(document.paths);
  const kept = new Map<string, Json>();
  const names = new Map<string, string>();
  for (const name of Object.keys(schemas).filter((each) => needed.has(each))) {
    const plain = name.replace(/Input$/, '');
    const isOther = needed.has(plain) && !isDeepStrictEqual(schemas[name], schemas[plain]);
    names.set(name, isOther ? name : plain);
    kept.set(isOther ? name : plain, schemas[name]);
  }
  document.components.schemas = Object.fromEntries(kept);
  const text = JSON.stringify(document).replaceAll(
    /"#\/components\/schemas\/(\w+)"/g,
    (_, name: string) => `"#/components/schemas/${names.get(name)}"`,
  );
  return JSON.parse(text);
};
