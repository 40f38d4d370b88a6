import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';

// The browser tests drive a real Chromium: the one named by CHROMIUM, one that is installed, or, where we may, one that is
// installed now.

const PLACES = [
  // Chromium without a window: the same pages in half the time.
  '/usr/bin/chromium-headless-shell',
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome-stable',
  '/usr/bin/google-chrome',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
  'C:\\Program Files\\Google\\Chrome\\Application\\chrome.exe',
];

const installed = (): string | undefined =>
  [process.env['CHROMIUM'] ?? '', ...PLACES].find((path) => path && existsSync(path));

export const findBrowser = (): string => {
  const found = installed();
  if (found) return found;
  if (process.getuid?.() === 0 && existsSync('/usr/bin/apt-get')) {
    process.stdout.write(
      'No Chromium found: installing Debian’s (apt-get install chromium-headless-shell) …\n',
    );
    execFileSync('apt-get', ['update', '-qq']);
    execFileSync('apt-get', ['install', '-y', '-qq', 'chromium-headless-shell'], {
      stdio: ['ignore', 'ignore', 'inherit'],
    });
  }
  const now = installed();
  if (!now)
    throw new Error('The browser tests need Chromium or Chrome: install one, or name it in CHROMIUM.');
  return now;
};
