import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { BASE_PATH } from '../../contract/common.ts';

// Holds every exchange with an API against its OpenAPI document.

// biome-ignore lint/suspicious/noExplicitAny: a JSON document
type Json = any;

export interface Exchange {
  method: string;
  path: string;
  sent: unknown;
  status: number;
  headers: Headers;
  received: unknown;
}

const DOCUMENT = 'openapi';
/** Responses that are sent before the route is known; the document describes routes. */
const OUTSIDE = new Set([405, 431]);

const NAMES_CODES = new Set([403, 404, 409, 410, 422]);

const TYPED: Record<string, (text: string) => unknown> = {
  integer: Number,
  boolean: (text) => (text === 'true' ? true : text === 'false' ? false : text),
};

/** Callers must ignore unknown fields, but we must not send fields that the document lacks. */
const closed = (part: Json): Json => {
  if (Array.isArray(part)) return part.map(closed);
  if (typeof part !== 'object' || part === null) return part;
  const inside = Object.fromEntries(Object.entries(part).map(([name, value]) => [name, closed(value)]));
  return inside['type'] === 'object' && inside['properties']
    ? { additionalProperties: false, ...inside }
    : inside;
};

export const openApiChecker = (open: Json, basePath: string = BASE_PATH) => {
  const document = closed(JSON.parse(JSON.stringify(open)));
  const ajv = new Ajv2020({ strict: false, allErrors: true });
  formats.default(ajv);
  // The pattern beside it says more than any implementation of this format.
  ajv.addFormat('idn-email', true);
  ajv.addSchema(document, DOCUMENT);
  const compiled = new Map<string, ValidateFunction>();
  const validator = (pointer: string): ValidateFunction => {
    const known = compiled.get(pointer) ?? ajv.compile({ $ref: `${DOCUMENT}#${pointer}` });
    compiled.set(pointer, known);
    return known;
  };
  const must = (pointer: string, value: unknown, what: string): void => {
    const check = validator(pointer);
    if (!check(value))
      throw new Error(
        `${what} is not as the OpenAPI document says: ${ajv.errorsText(check.errors)}\n${JSON.stringify(value)}`,
      );
  };
  const templates = Object.keys(document.paths).map((template) => ({
    template,
    pattern: new RegExp(`^${template.replaceAll(/\{\w+\}/g, '[^/]+')}$`),
  }));

  return ({ method, path, sent, status, headers, received }: Exchange): void => {
    const url = new URL(path, 'http://test');
    if (!url.pathname.startsWith(`${basePath}/`) || OUTSIDE.has(status)) return;
    const inside = url.pathname.slice(basePath.length);
    // A plain path wins over one with a parameter, as in the router.
    const template = templates.find(({ pattern }) => pattern.test(inside))?.template;
    const verb = method.toLowerCase();
    const operation = template && document.paths[template][verb];
    if (!operation) return;
    const what = `${method} ${template} → ${status}`;
    const at = `/paths/${escaped(template)}/${verb}`;

    const response = operation.responses[status];
    if (!response) throw new Error(`${what}: the OpenAPI document does not know this status`);
    // An operation of the External API names the codes that it answers with.
    const { code } = (received ?? {}) as { code?: string };
    if (basePath === BASE_PATH && NAMES_CODES.has(status) && !response.description.includes(`\`${code}\``))
      throw new Error(`${what}: the OpenAPI document does not name ${code}`);
    if (response.content)
      must(`${at}/responses/${status}/content/application~1json/schema`, received, `the response of ${what}`);
    else if (received !== '') throw new Error(`${what}: the OpenAPI document knows of no body`);
    for (const name of Object.keys(response.headers))
      if (name !== 'Idempotency-Replayed' && !headers.has(name))
        throw new Error(`${what}: the header ${name} is missing`);

    if (status >= 300) return;
    if (operation.requestBody && (sent !== undefined || operation.requestBody.required))
      must(`${at}/requestBody/content/application~1json/schema`, sent, `the body taken by ${what}`);
    const known = new Map<string, Json>(
      (operation.parameters ?? []).filter((p: Json) => p.in === 'query').map((p: Json) => [p.name, p]),
    );
    for (const [name, value] of url.searchParams) {
      const parameter = known.get(name);
      if (!parameter) throw new Error(`${what}: the OpenAPI document does not know the parameter ${name}`);
      const typed = TYPED[parameter.schema.type]?.(value) ?? value;
      const index = operation.parameters.indexOf(parameter);
      must(`${at}/parameters/${index}/schema`, typed, `the parameter ${name} of ${what}`);
    }
  };
};

const escaped = (part: string): string =>
  encodeURIComponent(part.replaceAll('~', '~0').replaceAll('/', '~1'));
