import { STATUS_CODES } from 'node:http';
import { ERRORS, type ErrorCode } from '../../src/platform/errors.ts';

// docs/guide/errors.md says what each code means and what to do. Status and sentence come from the table in src/platform/errors.ts, and a
// code without a section gets one, so that no address in an error body leads nowhere.

const CODE_HEADING = /^### ([A-Z][A-Z_]+)$/gm;

const isCode = (name: string): name is ErrorCode => name in ERRORS;

const factsOf = (code: ErrorCode): string => {
  const { status, message } = ERRORS[code];
  return `**${status} ${STATUS_CODES[status]}** · ${message}`;
};

/** The codes that the text explains in a section of their own. */
const explainedCodes = (text: string): string[] =>
  [...text.matchAll(CODE_HEADING)].map(([, code]) => String(code));

export const withErrorFacts = (text: string): string => {
  const explained = new Set(explainedCodes(text));
  for (const code of explained)
    if (!isCode(code))
      throw new Error(`docs/guide/errors.md explains ${code}, which src/platform/errors.ts lacks`);
  const rest = (Object.keys(ERRORS) as ErrorCode[]).filter((code) => !explained.has(code));
  const sections = rest.map((code) => `### ${code}\n\n${factsOf(code)}\n`);
  const whole = text.replace(CODE_HEADING, (line, code: ErrorCode) => `${line}\n\n${factsOf(code)}`);
  return rest.length === 0 ? whole : `${whole}\n## Other codes\n\n${sections.join('\n')}`;
};
