import type { Json } from '../../http/openapi.ts';

/** A value that a schema of the document accepts: its own example, or one put together from its parts. */
export const exampleOf = (document: Json, schema: Json): Json => {
  if (schema.$ref) return exampleOf(document, document.components.schemas[schema.$ref.split('/').at(-1)]);
  const given = schema.examples?.[0] ?? schema.example ?? schema.const ?? schema.enum?.[0];
  if (given !== undefined) return given;
  const [first] = [...(schema.anyOf ?? []), ...(schema.oneOf ?? [])];
  if (first) return exampleOf(document, first);
  if (schema.type === 'object') return exampleObject(document, schema);
  if (schema.type === 'array') return [exampleOf(document, schema.items)];
  return PLAIN[schema.type as keyof typeof PLAIN] ?? null;
};

const PLAIN = { string: 'text', number: 1, integer: 1, boolean: true };

/** What is required, and of the rest what has an example. */
const exampleObject = (document: Json, { properties = {}, required = [] }: Json): Json =>
  Object.fromEntries(
    Object.entries<Json>(properties)
      .filter(([name, schema]) => required.includes(name) || hasExample(schema))
      .map(([name, schema]) => [name, exampleOf(document, schema)]),
  );

const hasExample = (schema: Json): boolean =>
  Boolean(schema.examples ?? schema.example ?? schema.anyOf?.some(hasExample));
