// The reference as Markdown, from the OpenAPI document: for readers without a browser.

// biome-ignore lint/suspicious/noExplicitAny: a JSON document
type Json = any;

const METHODS = ['get', 'post', 'put', 'patch', 'delete'];

const oneLine = (text: string): string => text.replaceAll(/\s+/g, ' ').replaceAll('|', '\\|').trim();

const resolved = (document: Json, schema: Json): Json =>
  schema?.$ref ? document.components.schemas[schema.$ref.split('/').at(-1)] : schema;

/** `string`, `integer, 1 to 100`, `one of A, B`, or the name of an object that stands further down. */
const typeOf = (schema: Json): string => {
  if (schema.$ref) return `\`${schema.$ref.split('/').at(-1)}\``;
  if (schema.const !== undefined) return `\`${schema.const}\``;
  if (schema.enum) return `one of ${schema.enum.map((word: string) => `\`${word}\``).join(', ')}`;
  const choices = schema.anyOf ?? schema.oneOf;
  if (choices) return choices.map(typeOf).join(' or ');
  if (schema.type === 'array') return `list of ${typeOf(schema.items ?? {})}`;
  const type = [schema.type ?? 'any value'].flat().join(' or ');
  const limits = [
    schema.maxLength && `at most ${schema.maxLength} characters`,
    schema.minimum !== undefined && schema.maximum !== undefined && `${schema.minimum} to ${schema.maximum}`,
  ].filter(Boolean);
  return [type, ...limits].join(', ');
};

/** An object that has no name of its own, with the path to its fields: `actor.`, or `items[].` in a list. */
const nestedIn = (field: Json, path: string): [Json, string][] => {
  if (field.type === 'array') return nestedIn(field.items ?? {}, `${path}[]`);
  if (field.properties) return [[field, `${path}.`]];
  return (field.anyOf ?? field.oneOf ?? []).flatMap((choice: Json) => nestedIn(choice, path));
};

/** Of a field that may be null, the description stands with what else it may be. */
const descriptionOf = ({ description, anyOf, oneOf }: Json): string =>
  description ?? (anyOf ?? oneOf ?? []).find((choice: Json) => choice.description)?.description ?? '';

const rowsOf = (schema: Json, path = ''): string[] =>
  Object.entries<Json>(schema.properties ?? {}).flatMap(([name, field]) => [
    `| \`${path}${name}\` | ${oneLine(typeOf(field))} | ${(schema.required ?? []).includes(name) ? 'yes' : ''} | ${oneLine(descriptionOf(field))} |`,
    ...nestedIn(field, path + name).flatMap(([object, below]) => rowsOf(object, below)),
  ]);

/** In what is sent a field is required or not; in responses it is always there or not. */
const fieldsOf = (schema: Json, isSent: boolean): string => {
  const rows = rowsOf(schema);
  if (rows.length === 0 && (schema.enum ?? schema.anyOf ?? schema.oneOf))
    return [descriptionOf(schema), `${capital(typeOf(schema))}.`].filter(Boolean).join('\n\n');
  return rows.length === 0
    ? 'No fields.'
    : `| field | type | ${isSent ? 'required' : 'always there'} | |\n|---|---|---|---|\n${rows.join('\n')}`;
};

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

const namesIn = (part: Json): string[] =>
  [...(JSON.stringify(part) ?? '').matchAll(/"#\/components\/schemas\/(\w+)"/g)].map(([, name]) =>
    String(name),
  );

/** The objects that callers send: the bodies, and what they hold. */
const sentObjects = (document: Json): Set<string> => {
  const names = new Set(operationsIn(document).flatMap(([, , { requestBody }]) => namesIn(requestBody)));
  for (const name of names) for (const held of namesIn(document.components.schemas[name])) names.add(held);
  return names;
};

const parametersOf = (parameters: Json[]): string =>
  parameters.length === 0
    ? ''
    : `| parameter | in | type | required | |\n|---|---|---|---|---|\n${parameters
        .map(
          (each) =>
            `| \`${each.name}\` | ${each.in} | ${oneLine(typeOf(each.schema))} | ${each.required ? 'yes' : ''} | ${oneLine(each.description ?? '')} |`,
        )
        .join('\n')}\n`;

const schemaIn = (content: Json): Json => content?.['application/json']?.schema;

const operationText = (method: string, path: string, operation: Json): string => {
  const body = schemaIn(operation.requestBody?.content);
  const responses = Object.entries<Json>(operation.responses).map(([status, { description, content }]) => {
    const schema = schemaIn(content);
    return `- **${status}** ${oneLine(description ?? '')}${schema ? ` (${typeOf(schema)})` : ''}`;
  });
  return [
    `### ${method.toUpperCase()} ${path}`,
    [operation.summary, operation.description].filter(Boolean).join('. '),
    parametersOf(operation.parameters ?? []),
    body ? `Body: ${typeOf(body)}${operation.requestBody.required ? '' : ', optional'}.` : '',
    `Responses:\n\n${responses.join('\n')}`,
  ]
    .filter(Boolean)
    .join('\n\n');
};

export interface Operation {
  tag: string;
  method: string;
  path: string;
  summary: string;
  description: string;
}

const operationsIn = (document: Json): [string, string, Json][] =>
  Object.entries<Json>(document.paths).flatMap(([path, operations]) =>
    METHODS.filter((method) => operations[method]).map((method): [string, string, Json] => [
      method,
      path,
      operations[method],
    ]),
  );

export const operationsOf = (document: Json): Operation[] =>
  operationsIn(document).map(([method, path, { tags = [], summary = '', description = '' }]) => ({
    tag: String(tags[0]),
    method: method.toUpperCase(),
    path,
    summary,
    description,
  }));

export const referenceText = (document: Json): string => {
  const operations = operationsIn(document);
  const tags = document.tags.map(({ name, description }: Json) => {
    const own = operations.filter(([, , { tags }]) => tags?.includes(name));
    return own.length === 0
      ? ''
      : `## ${name}\n\n${description}\n\n${own.map((each) => operationText(...each)).join('\n\n')}`;
  });
  const sent = sentObjects(document);
  const schemas = Object.keys(document.components.schemas)
    .sort()
    .map(
      (name) =>
        `### ${name}\n\n${fieldsOf(resolved(document, document.components.schemas[name]), sent.has(name))}`,
    );
  return `${tags.filter(Boolean).join('\n\n')}\n\n## Objects\n\n${schemas.join('\n\n')}\n`;
};
