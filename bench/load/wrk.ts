import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Request } from '../requests.ts';
import type { LoadCommand } from './command.ts';

const rawRequest = (host: string, { method, path, headers, body }: Request): string => {
  const all = {
    host,
    ...headers,
    ...(body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) }),
  };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}`);
  return [`${method} ${path} HTTP/1.1`, ...lines, '', body ?? ''].join('\r\n');
};

/** Requests are ASCII, and of those JSON's escapes are Lua's too. */
const script = (requests: string[]): string => `
local requests = { ${requests.map((request) => JSON.stringify(request)).join(',\n')} }
local sent = 0
request = function()
  sent = sent % #requests + 1
  return requests[sent]
end
done = function(summary, latency)
  local errors = summary.errors
  io.write(string.format(
    '{"requests":%d,"seconds":%.6f,"failures":%d,"p50Ms":%.4f,"p99Ms":%.4f}\\n',
    summary.requests, summary.duration / 1e6,
    errors.status + errors.connect + errors.read + errors.write + errors.timeout,
    latency:percentile(50) / 1000, latency:percentile(99) / 1000))
end
`;

export const wrkCommand: LoadCommand = (folder, url, requests, { connections, seconds }) => {
  const file = join(folder, 'requests.lua');
  writeFileSync(file, script(requests.map((request) => rawRequest(new URL(url).host, request))));
  return ['wrk', '-t1', `-c${connections}`, `-d${seconds}s`, '--timeout', '10s', '-s', file, url];
};
