import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** What the docs say instead of the reader's own address; the page and the service fill that in. */
export const EXAMPLE_URL = 'https://returns.example.com';

export interface DocsPage {
  /** Its address below /docs/, and the name of its files; the first page is `index`. */
  name: string;
  /** In the navigation; the page's own heading may say more. */
  label: string;
  group: string;
  /** One line, for search engines, `llms.txt` and the first page. */
  summary: string;
  /** Where its text is in the repository; the file of that name in docs/guide when absent. */
  file?: string;
}

/** Every page, in the order in which one reads them. */
export const PAGES: DocsPage[] = [
  {
    name: 'index',
    label: 'Overview',
    group: 'Start',
    summary: 'What Handback does, and which page answers which question.',
  },
  {
    name: 'quick-start',
    label: 'Quick start',
    group: 'Start',
    summary: 'Your first repair, your first event and your first verified webhook, in five minutes.',
  },
  {
    name: 'lifecycles',
    label: 'The life of a return',
    group: 'Start',
    summary: 'How a repair and a trade return move, as pictures: statuses, calls and events.',
  },
  {
    name: 'api',
    label: 'API guide',
    group: 'Guides',
    summary: 'Keys, creating, moving, finding, safe retries, dry runs and lists, with curl.',
  },
  {
    name: 'create',
    label: 'Create from code',
    group: 'Guides',
    summary: 'A creation that is safe to retry, in TypeScript, Python, PHP and Java.',
  },
  {
    name: 'webhooks',
    label: 'Webhooks',
    group: 'Guides',
    summary: 'What a receiver gets and must do, and how to check a signature, with code.',
  },
  {
    name: 'events',
    label: 'The event feed',
    group: 'Guides',
    summary: 'Read every event in order with GET /events: no public address needed, nothing missed.',
  },
  {
    name: 'keep-a-copy',
    label: 'Keep a copy',
    group: 'Guides',
    summary: "The shop's returns in a database of your own: feed, reads and a sweep, with a program.",
  },
  {
    name: 'warehouse',
    label: 'Warehouse and ERP',
    group: 'Guides',
    summary: 'A warehouse receives a trade return and an ERP confirms the credit, without a person.',
  },
  {
    name: 'keys',
    label: 'Keys and rights',
    group: 'Guides',
    summary: 'What a key may do, when it ends, and how to change it without downtime.',
  },
  {
    name: 'erase',
    label: 'Erase a customer',
    group: 'Guides',
    summary: 'When a customer asks to be forgotten: erase them here by API, and in your own copy by event.',
  },
  {
    name: 'go-live',
    label: 'Test and go live',
    group: 'Guides',
    summary: 'A shop for tests, what to try in it, and a checklist.',
  },
  {
    name: 'recipes',
    label: 'Recipes',
    group: 'Guides',
    summary:
      'Programs to copy: a typed client, webhook receivers in Python and PHP, Postman, webhooks on a laptop.',
    file: 'recipes/README.md',
  },
  {
    name: 'errors',
    label: 'Errors',
    group: 'Look up',
    summary: 'Every error code: what it means and what to do.',
  },
  {
    name: 'limits',
    label: 'Limits',
    group: 'Look up',
    summary: 'Rates, sizes, times and how long things are kept.',
  },
  {
    name: 'privacy',
    label: 'Privacy',
    group: 'Look up',
    summary: 'Which personal data is stored, where and for how long, and what erasure reaches.',
    file: 'docs/privacy.md',
  },
  {
    name: 'versions',
    label: 'Versions',
    group: 'Look up',
    summary: 'What may change within v1, and what cannot.',
  },
  {
    name: 'reference',
    label: 'API reference',
    group: 'Look up',
    summary: 'Every call with its fields and responses, to read and to try.',
  },
  {
    name: 'changelog',
    label: 'Changelog',
    group: 'Look up',
    summary: 'What is new in each release.',
    file: 'CHANGELOG.md',
  },
  {
    name: 'operations',
    label: 'Operations',
    group: 'Operate',
    summary: 'How to run the service: which page has what, and how to call its command.',
    file: 'docs/operations/index.md',
  },
  ...(
    [
      ['install', 'Install', 'From an empty machine to a service with TLS, backups and alerts.'],
      ['configure', 'Configure', 'Every setting; mail and single sign-on.'],
      ['postgresql', 'PostgreSQL', 'Many processes, connections, TLS, failover and poolers.'],
      ['backup', 'Back up and restore', 'Backups by hand and on a schedule, and the restore drill.'],
      ['upgrade', 'Upgrade', 'A new version without a failed request, and the way back.'],
      ['on-call', 'On call', 'Each alert and what to do; metrics, logs and repairs.'],
      ['commands', 'Commands', 'Every command of the command line.'],
    ] as const
  ).map(([name, label, summary]) => ({
    name,
    label,
    summary,
    group: 'Operate',
    file: `docs/operations/${name}.md`,
  })),
];

/** Where a page's text is in the repository. */
export const fileOf = ({ name, file }: DocsPage): string => file ?? `docs/guide/${name}.md`;

const ROOT = new URL('../../', import.meta.url);
export const rootPath = (path: string): string => fileURLToPath(new URL(path, ROOT));
export const readText = (path: string): string => readFileSync(rootPath(path), 'utf8');

/** A page's address as links on other pages of the site write it. */
export const addressOf = (name: string): string => (name === 'index' ? './' : name);
