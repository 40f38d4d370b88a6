import type { $ZodConfig } from 'zod/v4/core';

// The page's policy forbids code made from text; schemas would try it the moment they are made. So this is loaded first, and
// laid where the schemas' library looks for its settings, since calling it would load it for pages that need none.
const settings: $ZodConfig = { jitless: true };
Object.assign(globalThis, { __zod_globalConfig: settings });
