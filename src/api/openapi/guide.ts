import { RATE_LIMITS } from '../rate-limits.ts';

const [CREATE_SECOND, CREATE_MINUTE] = RATE_LIMITS.create;
const [OTHER_MINUTE] = RATE_LIMITS.other;

/** The introduction of the reference. */
export const GUIDE = `
Create and manage return authorisations (RMAs) from a till, a service desk or an ERP.

**Keys.** An Admin makes an API client; its key is shown once. Send it with every request as \`X-Api-Key\`, or as a Bearer
token in \`Authorization\`.

**Retries.** Send an \`Idempotency-Key\` with a creation. After a lost answer, send the same request again: within 24 hours
you get the first result back, and nothing is created twice.

**Limits.** Creations: ${CREATE_MINUTE.points} a minute and ${CREATE_SECOND.points} a second per address. Everything else: ${OTHER_MINUTE.points} a minute. A 429 says in \`Retry-After\`
how long to wait.

**Errors.** Always the same body: \`statusCode\`, \`error\`, \`message\`, \`code\`, \`docs\`, \`requestId\`, and for a validation failure
\`errors\`. \`code\` names the error for programs, \`docs\` leads to its explanation. Unknown fields are refused, so a misspelt name never goes unnoticed.

**Versions.** Within v1 only additions come: be ready to see new fields. Anything that could break a caller gets a new
version, and the old one then lives for at least 12 months more.
`.trim();
