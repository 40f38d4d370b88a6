#!/usr/bin/env node
// Plain JavaScript that any Node can read: it must be able to say that this Node is too old.
const [major, minor] = process.versions.node.split('.').map(Number);
if (major < 22 || (major === 22 && minor < 19)) {
  process.stderr.write(
    `handback: needs Node 22.19 or newer, this is ${process.version}; inside the checkout, npm start and npx handback bring their own\n`,
  );
  process.exit(1);
}
if (process.argv[2] === 'serve') (await import('./v8-flags.js')).ensureV8Flags();
// Compiled code is kept from one start to the next; in a folder that cannot be written it just is not.
(await import('node:module')).enableCompileCache?.();
// A checkout runs its sources. An installed package has none, since Node strips no types below node_modules: it runs what was built.
const sources = new URL('../src/cli/handback.ts', import.meta.url);
const built = new URL('../dist/service/handback.js', import.meta.url);
await import(((await import('node:fs')).existsSync(sources) ? sources : built).href);
