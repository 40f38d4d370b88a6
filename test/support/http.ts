import { request } from 'undici';

export interface Answer {
  status: number;
  headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: answers are asserted on field by field
  body: any;
}

export interface HttpRequest {
  method: string;
  headers: Record<string, string>;
  body: string | Uint8Array | undefined;
}

/** There was no answer, or only a part of one. */
export class NoAnswer extends Error {}

/**
 * One exchange, with the body parsed where it is JSON. It follows no redirect and unpacks nothing, and takes half the time that
 * `fetch` takes.
 */
export const exchange = async (url: string, { method, headers, body }: HttpRequest): Promise<Answer> => {
  const options = { method: method as 'GET', headers, ...(body === undefined ? {} : { body }) };
  const asked = request(url, options).then(async (answer) => ({ answer, text: await answer.body.text() }));
  const { answer, text } = await asked.catch((cause) => {
    throw new NoAnswer(`no answer to ${method} ${url}`, { cause });
  });
  const { 'content-type': type = '', 'content-encoding': compressed } = answer.headers;
  const isJson = method !== 'HEAD' && !compressed && /json/.test(String(type));
  return {
    status: answer.statusCode,
    headers: headersOf(answer.headers),
    body: isJson ? JSON.parse(text) : text,
  };
};

const headersOf = (received: Record<string, string | string[] | undefined>): Headers => {
  const headers = new Headers();
  for (const [name, value] of Object.entries(received))
    for (const each of [value ?? []].flat()) headers.append(name, each);
  return headers;
};

/** What is sent as it is. */
export const isRaw = (body: unknown): body is string | Uint8Array =>
  typeof body === 'string' || body instanceof Uint8Array;

/** The bytes of a body: JSON, unless it is sent as it is. */
export const bytesOf = (body: unknown): string | Uint8Array | undefined =>
  isRaw(body) || body === undefined ? body : JSON.stringify(body);
