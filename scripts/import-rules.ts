// Who may import whom. docs/architecture.md describes the folders.

const forbid = (name: string, from: object, to: object, comment: string) => ({
  name,
  severity: 'error' as const,
  comment,
  from,
  to,
});

/** The admin app's folders with rules of their own: which other folders they may import, and why. */
const ADMIN_FOLDERS = {
  ui: { mayImport: [], why: 'Every feature builds on ui/, so ui/ knows no feature.' },
  session: { mayImport: ['ui'], why: 'Every feature asks who is signed in, so session/ knows no feature.' },
  overview: {
    mayImport: ['ui', 'session', 'returns'],
    why: 'It counts returns and links to them, with the labels that their lists use.',
  },
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
  forbid('no-circles', {}, { circular: true }, 'Move what both files need into a third one.'),
  forbid(
    'contract-stands-alone',
    { path: '^contract/' },
    { path: '^(src|admin|test|bench|scripts)/' },
    'Everybody reads the contract, so it knows nobody.',
  ),
  forbid(
    'engines-only-in-db',
    { path: '^src/', pathNot: '^src/db/' },
    { path: 'node_modules/(pg|better-sqlite3)/' },
    'Only db/ knows that there are two engines.',
  ),
  forbid(
    'db-knows-no-business',
    { path: '^src/db/' },
    { path: '^src/(?!db/|(config|clock)\\.ts)' },
    'Every feature uses db/, so db/ knows no feature.',
  ),
  forbid(
    'kinds-stay-apart',
    { path: '^src/(offline-repairs|trade-returns)/' },
    { path: '^src/(offline-repairs|trade-returns)/', pathNot: '^src/$1/' },
    'What both kinds need is in rma/.',
  ),
  forbid(
    'http-only-from-routes',
    { path: '^src/[^/]+/', pathNot: '^src/(http/|cli/|[^/]+/(admin-)?routes\\.ts$)' },
    { path: '^src/http/' },
    'Actions and stores do not know that they are called over HTTP.',
  ),
  forbid(
    'features-know-no-command-line',
    { path: '^src/[^/]+/', pathNot: '^src/cli/' },
    { path: '^src/(cli|main|app)(/|\\.ts)' },
    'The command line and the app call the features.',
  ),
  ...adminRules,
];

export const options = {
  // With TypeScript 7 the default parser reads nothing and reports success.
  parser: 'swc' as const,
  doNotFollow: { path: 'node_modules' },
  tsPreCompilationDeps: true,
};
