import { execFileSync } from 'node:child_process';
import type { TestProject } from 'vitest/node';
import { findBrowser } from './find-browser.ts';

declare module 'vitest' {
  interface ProvidedContext {
    browser: string;
  }
}

/** The browser, and the app as it is now. */
export default function setup(project: TestProject) {
  project.provide('browser', findBrowser());
  execFileSync(process.execPath, ['scripts/build-admin.mjs'], { stdio: 'inherit' });
}
