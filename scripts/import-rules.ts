// Who may import whom. Rooms are named in docs/architecture.md.

const forbid = (name: string, from: object, to: object, comment: string) => ({
  name,
  severity: 'error' as const,
  comment,
  from,
  to,
});
const folder = (...names: string[]) => ({ path: `^src/(${names.join('|')})/` });

export const forbidden = [
  forbid('no-circles', {}, { circular: true }, 'Two files that need each other are one subject.'),
  forbid(
    'contract-stands-alone',
    { path: '^contract/' },
    { path: '^(src|admin|test)/' },
    'The contract is data for everybody.',
  ),
  forbid(
    'engines-only-in-db',
    { path: '^src/', pathNot: '^src/db/' },
    { path: 'node_modules/(pg|better-sqlite3)/' },
    'Only db/ knows that there are two engines.',
  ),
  forbid(
    'db-knows-no-business',
    folder('db'),
    { path: '^src/(?!db/|(config|clock)\\.ts)' },
    'The floor carries the house, not the other way round.',
  ),
  forbid(
    'kinds-are-strangers',
    folder('offline-repairs'),
    { path: '^src/trade-returns/' },
    'What both kinds need is in rma/.',
  ),
  forbid(
    'kinds-are-strangers-too',
    folder('trade-returns'),
    { path: '^src/offline-repairs/' },
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
  forbid(
    'admin-knows-only-the-contract',
    { path: '^admin/' },
    { path: '^(src|test|bench|scripts)/' },
    'The app talks to the service over HTTP.',
  ),
];

export const options = {
  // With TypeScript 7 the default parser reads nothing and reports success.
  parser: 'swc' as const,
  doNotFollow: { path: 'node_modules' },
  tsPreCompilationDeps: true,
};
