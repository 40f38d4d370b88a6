// Who may import whom. docs/architecture.md says what each folder is for.

const forbid = (name: string, from: object, to: object, comment: string) => ({
  name,
  severity: 'error' as const,
  comment,
  from,
  to,
});
const inside = (folders: readonly string[]): string => `^src/(${folders.join('|')})/`;

const FEATURES = ['api-clients', 'overview', 'personal-data', 'saved-views', 'staff'];

/** Imports point downwards: a folder may import from its own line and from the lines below it. */
const LAYERS = [
  ['cli'],
  ['app'],
  ['backup'],
  ['api'],
  FEATURES,
  ['returns'],
  ['shops', 'webhooks', 'events'],
  ['audit'],
  ['paging', 'mail'],
  ['platform'],
  ['db'],
  ['lib'],
];

const downwards = LAYERS.slice(1).map((layer, i) =>
  forbid(
    `downwards-from-${layer[0]}`,
    { path: inside(layer) },
    { path: inside(LAYERS.slice(0, i + 1).flat()) },
    'Imports point downwards, see LAYERS.',
  ),
);

/** The admin app's folders with rules of their own: which other folders they may import, and why. */
const ADMIN_FOLDERS = {
  ui: { mayImport: [], why: 'Every feature builds on ui/, so ui/ knows no feature.' },
  session: { mayImport: ['ui'], why: 'Every feature asks who is signed in, so session/ knows no feature.' },
  today: {
    mayImport: ['ui', 'session', 'returns'],
    why: 'It counts returns and links to them, with the labels that their lists use.',
  },
  search: {
    mayImport: ['ui', 'session', 'returns'],
    why: 'It finds returns, and shows them with the labels that their lists use.',
  },
  'personal-data': {
    mayImport: ['ui', 'session', 'returns'],
    why: 'It lists the returns of a customer, with the labels that their lists use.',
  },
  'scan-station': {
    mayImport: ['ui', 'session', 'returns', 'search'],
    why: 'It finds returns and moves them.',
  },
  shell: { mayImport: ['ui', 'session', 'search'], why: 'Its header has the search.' },
} as const;

const adminFolder = (name: string, mayImport: readonly string[], why: string) =>
  forbid(
    `admin-${name}`,
    { path: `^admin/src/${name}/` },
    { path: '^admin/src/[^/]+/', pathNot: `^admin/src/(${[name, ...mayImport].join('|')})/` },
    why,
  );

const adminRules = [
  forbid(
    'admin-knows-only-the-contract',
    { path: '^admin/' },
    { path: '^(src|test|bench|scripts)/' },
    'The app talks to the service over HTTP.',
  ),
  ...Object.entries(ADMIN_FOLDERS).map(([name, { mayImport, why }]) => adminFolder(name, mayImport, why)),
  forbid(
    'admin-features-stand-alone',
    { path: '^admin/src/([^/]+)/', pathNot: `^admin/src/(${Object.keys(ADMIN_FOLDERS).join('|')})/` },
    { path: '^admin/src/[^/]+/', pathNot: '^admin/src/($1|ui|session)/' },
    'What two features share is in ui/, session/ or a top-level file.',
  ),
  forbid(
    'admin-shared-files-know-no-feature',
    { path: '^admin/src/[^/]+$', pathNot: '^admin/src/(main|router)\\.tsx$' },
    { path: '^admin/src/[^/]+/' },
    'Features import these files.',
  ),
];

export const forbidden = [
  forbid(
    'no-circular',
    {},
    { circular: true },
    'Move what both files need into a third one. Types count too.',
  ),
  ...downwards,
  forbid(
    'every-folder-has-a-layer',
    { path: '^src/[^/]+/', pathNot: inside([...LAYERS.flat(), 'http']) },
    {},
    'A new folder gets its place in LAYERS.',
  ),
  forbid(
    'contract-stands-alone',
    { path: '^contract/' },
    { path: '^(src|admin|test|bench|scripts)/' },
    'Every folder may import the contract, so it imports none.',
  ),
  forbid(
    'engines-only-in-db',
    { path: '^src/', pathNot: '^src/db/' },
    { path: 'node_modules/(pg|better-sqlite3)/' },
    'Only db/ knows that there are two engines.',
  ),
  forbid(
    'db-imports-no-feature',
    { path: '^src/db/' },
    { path: '^src/(?!db/|lib/)' },
    'Everything else stands on db/, so db/ depends on nothing else.',
  ),
  forbid(
    'lib-stands-alone',
    { path: '^src/lib/' },
    { path: '^(src|contract)/', pathNot: '^src/lib/' },
    'lib/ is general: no word of the domain is in it.',
  ),
  forbid(
    'http-imports-no-feature',
    { path: '^src/http/' },
    {
      path: '^src/(?!http/|lib/|db/database-errors\\.ts|platform/(config|errors|log|metrics)\\.ts)',
    },
    'http/ knows no feature and no Context: it gets what it needs as arguments.',
  ),
  forbid(
    'http-only-from-routes',
    { path: '^src/[^/]+/', pathNot: ['^src/(http|api|app)/', 'routes\\.ts$'] },
    { path: '^src/http/' },
    'Actions and stores do not know that they are called over HTTP.',
  ),
  forbid(
    'features-are-independent',
    { path: inside(FEATURES) },
    { path: inside(FEATURES), pathNot: '^src/$1/' },
    'What two features share lives below them, in returns/ for example.',
  ),
  ...adminRules,
];

export const options = {
  // With TypeScript 7 the default parser misses some imports and says nothing.
  parser: 'swc' as const,
  doNotFollow: { path: 'node_modules' },
  tsPreCompilationDeps: true,
};
