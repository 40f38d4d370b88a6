import { beforeEach } from 'vitest';
import { findTool } from './tools.ts';

// Of every file below test/browser: skipped where there is no browser.
beforeEach(({ skip }) => {
  if (findTool('chromium') === null) skip('chromium not installed');
});
