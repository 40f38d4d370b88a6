import type { Json } from './json.ts';

/**
 * The library lists every schema twice, as `X` for answers and `XInput` for bodies. This keeps only the schemas that the
 * paths use, and renames `XInput` to `X` where `X` itself is not used.
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
  for (const name of Object.keys(schemas)) if (!needed.has(name)) delete schemas[name];
  const renamed = [...needed].filter(
    (name) => name.endsWith('Input') && !needed.has(name.slice(0, -'Input'.length)),
  );
  let text = JSON.stringify(document);
  for (const name of renamed) {
    const plain = name.slice(0, -'Input'.length);
    text = text
      .replaceAll(`"#/components/schemas/${name}"`, `"#/components/schemas/${plain}"`)
      .replaceAll(`"${name}":`, `"${plain}":`);
  }
  return JSON.parse(text);
};
