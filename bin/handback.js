#!/usr/bin/env node
// Plain JavaScript that any Node can read: it must be able to say that this Node is too old.
const [major, minor] = process.versions.node.split('.').map(Number);
if (major < 22 || (major === 22 && minor < 19)) {
  process.stderr.write(
    `handback: needs Node 22.19 or newer, this is ${process.version}; inside the checkout, npm start and npx handback bring their own\n`,
  );
  process.exit(1);
}
// Compiled code is kept from one start to the next; in a folder that cannot be written it just is not.
(await import('node:module')).enableCompileCache?.();
const { run } = await import('../src/cli/run.ts');
await run(process.argv);
