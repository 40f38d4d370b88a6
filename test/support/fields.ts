// Values inside a body, by their path.

type Body = Record<string, unknown>;

const replaced = (part: unknown, [first = '', ...rest]: string[], value: unknown): unknown => {
  if (Array.isArray(part))
    return part.map((each, index) =>
      String(index) !== first ? each : rest.length > 0 ? replaced(each, rest, value) : value,
    );
  const { [first]: before, ...others } = (part ?? {}) as Body;
  const after = rest.length > 0 ? replaced(before, rest, value) : value;
  return after === undefined ? others : { ...others, [first]: after };
};

/** The body with another value at that path; `undefined` takes the field away. */
export const withValue = (body: object, path: string, value: unknown): Body =>
  replaced(body, path.split('.'), value) as Body;

export const at = (body: unknown, path: string): unknown =>
  path.split('.').reduce<unknown>((part, name) => (part as Body)[name], body);
