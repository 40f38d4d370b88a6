import { build } from 'vite';
import type { TestProject } from 'vitest/node';
import { findBrowser } from './find-browser.ts';

declare module 'vitest' {
  interface ProvidedContext {
    browser: string;
  }
}

/** The browser, and the app as it is now. */
export default async function setup(project: TestProject) {
  project.provide('browser', findBrowser());
  await build({ configFile: 'admin/vite.config.ts', logLevel: 'warn' });
}
