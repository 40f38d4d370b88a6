import { execFileSync } from 'node:child_process';
import type { TestProject } from 'vitest/node';
import { findBrowser } from './find-browser.ts';

declare module 'vitest' {
  interface ProvidedContext {
    browser: string;
  }
}

/** The browser, and the pages as they are now. */
export default function setup(project: TestProject) {
  project.provide('browser', findBrowser());
  for (const script of ['scripts/build-admin.mjs', 'scripts/build-docs.mjs'])
    execFileSync(process.execPath, [script], { stdio: 'inherit' });
}
