import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

// What a release must not change of the one before: the text of its migrations, and whatever a caller of its API relies on
// (docs/guide/versions.md). `npm run release` writes both to test/released/, and tests compare them with every change since.

// biome-ignore lint/suspicious/noExplicitAny: a JSON document
export type Json = any;

export type Digests = Record<string, string>;

/** By file; line ends as git has them. */
export const migrationDigests = (folder: string): Digests =>
  Object.fromEntries(
    readdirSync(folder)
      .sort()
      .map((name) => {
        const text = readFileSync(join(folder, name), 'utf8').replaceAll('\r\n', '\n');
        return [name, createHash('sha256').update(text).digest('hex')];
      }),
  );

export const changedMigrations = (released: Digests, now: Digests): string[] =>
  Object.entries(released)
    .filter(([name, digest]) => now[name] !== digest)
    .map(([name]) => `${name} is released and was ${now[name] ? 'changed' : 'removed'}: add a new migration`);

/** Callers send one kind of value, which must be accepted as before, and receive the other, which must be what they know. */
type Direction = 'sent' | 'received';

/** Each with the sign of a stricter rule. */
const LIMITS = {
  maxLength: -1,
  maximum: -1,
  exclusiveMaximum: -1,
  maxItems: -1,
  maxProperties: -1,
  minLength: 1,
  minimum: 1,
  exclusiveMinimum: 1,
  minItems: 1,
  minProperties: 1,
} as const;

const namesIn = (part: Json): string[] => Object.keys(part ?? {});
const valuesOf = ({ enum: values, const: value }: Json): Json[] | null =>
  values ?? (value === undefined ? null : [value]);

class Comparison {
  readonly was: Json;
  readonly is: Json;
  /** References that are being compared, which may contain themselves. */
  readonly open = new Set<string>();

  constructor(was: Json, is: Json) {
    this.was = was;
    this.is = is;
  }

  private resolved(document: Json, part: Json): Json {
    if (!part?.$ref) return part;
    const steps: string[] = part.$ref.slice(2).split('/');
    const found = steps.reduce(
      (at, step) => at?.[step.replaceAll('~1', '/').replaceAll('~0', '~')],
      document,
    );
    return this.resolved(document, found);
  }

  /** One for each form that a value may have. */
  private variants(document: Json, part: Json): Json[] {
    const schema = this.resolved(document, part);
    if (schema.allOf) throw new Error('allOf is not compared: teach scripts/released.ts to');
    const forms = schema.anyOf ?? schema.oneOf;
    if (forms) return forms.flatMap((each: Json) => this.variants(document, each));
    if (Array.isArray(schema.type)) return schema.type.map((type: string) => ({ ...schema, type }));
    return [schema];
  }

  /** What is wrong with a schema; nothing: callers notice no difference. */
  schema(at: string, was: Json, is: Json, direction: Direction): string[] {
    const key = `${direction} ${was.$ref} ${is.$ref}`;
    if (was.$ref && this.open.has(key)) return [];
    this.open.add(key);
    const [before, after] = [this.variants(this.was, was), this.variants(this.is, is)];
    const compare = (one: Json, other: Json) =>
      direction === 'sent' ? this.form(at, one, other, direction) : this.form(at, other, one, direction);
    const [each, among] = direction === 'sent' ? [before, after] : [after, before];
    const found = each.flatMap((one) => {
      const tried = among.map((other) => compare(one, other));
      return tried.reduce((best, next) => (next.length < best.length ? next : best));
    });
    this.open.delete(key);
    // A form of its own, such as a new type of event, is ignored by callers who do not know it.
    const isOpen = direction === 'received' && this.resolved(this.was, was).discriminator;
    const isLost = (one: Json) => after.every((other) => this.form(at, one, other, direction).length > 0);
    if (isOpen) return before.filter(isLost).map(() => `${at}: one of its forms was removed or changed`);
    return found;
  }

  private form(at: string, was: Json, is: Json, direction: Direction): string[] {
    return [
      ...this.type(at, was, is, direction),
      ...(direction === 'sent' ? this.rules(at, was, is) : []),
      ...this.properties(at, was, is, direction),
      ...(was.items && is.items ? this.schema(`${at}[]`, was.items, is.items, direction) : []),
    ];
  }

  private type(at: string, was: Json, is: Json, direction: Direction): string[] {
    const [from, to] = direction === 'sent' ? [was.type, is.type] : [is.type, was.type];
    if (to !== undefined && from !== to && !(from === 'integer' && to === 'number'))
      return [`${at}: its type was ${was.type} and is ${is.type}`];
    const [before, after] = [valuesOf(was), valuesOf(is)];
    // Callers treat a value that they do not know as "something else"; one that is fixed has no others.
    if (direction === 'received' && was.const === undefined)
      return was.format && is.format !== was.format ? [`${at}: its format ${was.format} was changed`] : [];
    const lost = direction === 'sent' ? before : after;
    const known = direction === 'sent' ? after : before;
    if (known && !lost) return [`${at}: only some values are taken now`];
    const gone = (lost ?? []).filter((value) => known && !known.includes(value));
    return gone.map(
      (value) =>
        `${at}: the value ${JSON.stringify(value)} was ${direction === 'sent' ? 'removed' : 'added'}`,
    );
  }

  /** Of what callers send. */
  private rules(at: string, was: Json, is: Json): string[] {
    const found = Object.entries(LIMITS)
      .filter(
        ([name, sign]) =>
          is[name] !== undefined && (was[name] === undefined || (is[name] - was[name]) * sign > 0),
      )
      .map(([name]) => `${at}: ${name} is stricter`);
    for (const name of ['pattern', 'format'])
      if (is[name] !== undefined && is[name] !== was[name])
        found.push(`${at}: ${name} is new or was changed`);
    if (was.default !== undefined && is.default !== was.default) found.push(`${at}: its default was changed`);
    if (is.additionalProperties === false && was.additionalProperties !== false && was.type === 'object')
      found.push(`${at}: further fields are refused now`);
    return found;
  }

  private properties(at: string, was: Json, is: Json, direction: Direction): string[] {
    const found: string[] = [];
    for (const name of namesIn(was.properties)) {
      const [before, after] = [was.properties[name], is.properties?.[name]];
      if (after) found.push(...this.schema(`${at}.${name}`, before, after, direction));
      else found.push(`${at}.${name} was removed`);
    }
    const [before, after]: string[][] = [was.required ?? [], is.required ?? []];
    const [added, lost] = [
      after?.filter((name) => !before?.includes(name)),
      before?.filter((name) => !after?.includes(name)),
    ];
    if (direction === 'sent') found.push(...(added ?? []).map((name) => `${at}.${name} is required now`));
    else
      found.push(
        ...(lost ?? [])
          .filter((name) => is.properties?.[name])
          .map((name) => `${at}.${name} may be missing now`),
      );
    const [one, other] = [was.additionalProperties, is.additionalProperties];
    if (typeof one === 'object' && typeof other === 'object')
      found.push(...this.schema(`${at}.*`, one, other, direction));
    return found;
  }

  private content(at: string, was: Json, is: Json, direction: Direction): string[] {
    return namesIn(was?.content).flatMap((type) => {
      const [before, after] = [was.content[type], is?.content?.[type]];
      if (!after) return [`${at}: ${type} was removed`];
      return before.schema && after.schema ? this.schema(at, before.schema, after.schema, direction) : [];
    });
  }

  private parameters(at: string, was: Json, is: Json): string[] {
    const listed = (document: Json, { parameters = [] }: Json): Map<string, Json> =>
      new Map(
        parameters
          .map((each: Json) => this.resolved(document, each))
          .map((each: Json) => [`${each.in} parameter ${each.name}`, each]),
      );
    const [before, after] = [listed(this.was, was), listed(this.is, is)];
    const found = [...before].flatMap(([name, each]) => {
      const now = after.get(name);
      return now
        ? this.schema(`${at}, ${name}`, each.schema, now.schema, 'sent')
        : [`${at}, ${name} was removed`];
    });
    for (const [name, { required }] of after)
      if (required && !before.get(name)?.required) found.push(`${at}, ${name} is required now`);
    return found;
  }

  operation(at: string, was: Json, is: Json): string[] {
    const found = [
      ...this.parameters(at, was, is),
      ...this.content(`${at}, body`, was.requestBody, is.requestBody, 'sent'),
    ];
    if (is.requestBody?.required && !was.requestBody?.required) found.push(`${at}: a body is required now`);
    const ways: Json[] = is.security ?? this.is.security ?? [];
    for (const way of was.security ?? this.was.security ?? [])
      if (!ways.some((each) => JSON.stringify(each) === JSON.stringify(way)))
        found.push(`${at}: ${JSON.stringify(way)} no longer authenticates`);
    for (const status of namesIn(was.responses)) {
      const [before, after] = [was.responses[status], is.responses?.[status]];
      // An error that no longer occurs breaks no caller.
      if (after) found.push(...this.content(`${at}, ${status}`, before, after, 'received'));
      else if (status < '300') found.push(`${at}, ${status} was removed`);
      for (const name of after ? namesIn(before.headers) : [])
        if (!after.headers?.[name]) found.push(`${at}, ${status}: the header ${name} was removed`);
    }
    return found;
  }

  webhook(at: string, was: Json, is: Json): string[] {
    return this.content(at, was.post?.requestBody, is.post?.requestBody, 'received');
  }
}

const METHODS = ['get', 'put', 'post', 'delete', 'patch', 'head', 'options'];
const basePath = ({ servers = [] }: Json): string =>
  new URL(servers[0]?.url ?? '/', 'http://localhost').pathname;

/** What would break a caller of the first document at a service that has the second one; a line for each. */
export const breakingChanges = (was: Json, is: Json): string[] => {
  const comparison = new Comparison(was, is);
  const found =
    basePath(was) === basePath(is) ? [] : [`the address ${basePath(was)} was changed to ${basePath(is)}`];
  for (const path of namesIn(was.paths))
    for (const method of METHODS.filter((name) => was.paths[path][name])) {
      const at = `${method.toUpperCase()} ${path}`;
      const now = is.paths[path]?.[method];
      found.push(...(now ? comparison.operation(at, was.paths[path][method], now) : [`${at} was removed`]));
    }
  for (const name of namesIn(was.webhooks)) {
    const now = is.webhooks?.[name];
    found.push(
      ...(now ? comparison.webhook(`event ${name}`, was.webhooks[name], now) : [`event ${name} was removed`]),
    );
  }
  return [...new Set(found)];
};

/** The part of the changelog on a version, and its date; null: none yet. */
export const changesOf = (
  changelog: string,
  version: string,
): { date: string | null; text: string } | null => {
  const section = changelog.split(/^## /m).find((each) => each.startsWith(`[${version}] - `)) ?? '';
  const [, title = '', text = ''] = /^\S+ - ([^\n]*)\n(.*)$/s.exec(section) ?? [];
  if (!text.trim()) return null;
  return { date: /^\d{4}-\d\d-\d\d$/.test(title) ? title : null, text: text.trim() };
};
