import type { $ZodConfig } from 'zod/v4/core';

// The page's content security policy forbids eval, which zod tries as soon as a schema is created. So this file loads first.
// It sets zod's global settings by hand: importing zod here would load it for pages that have no schemas.
const settings: $ZodConfig = { jitless: true };
Object.assign(globalThis, { __zod_globalConfig: settings });
