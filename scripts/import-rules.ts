// Who may import whom. docs/architecture.md says what each folder is for.

const forbid = (name: string, from: object, to: object, comment: string) => ({
  name,
  severity: 'error' as const,
  comment,
  from,
  to,
});
const inside = (folders: readonly string[]): string => `^src/(${folders.join('|')})/`;

const FEATURES = ['api-clients', 'offline-repairs', 'overview', 'staff', 'trade-returns'];

/** Imports point downwards: a folder may import from its own line and from the lines below it. */
const LAYERS = [['cli'], ['api'], FEATURES, ['rma'], ['shops', 'webhooks'], ['audit'], ['paging'], ['db']];

const downwards = LAYERS.slice(1).map((layer, i) =>
  forbid(
    `downwards-from-${layer[0]}`,
    { path: inside(layer) },
    { path: [inside(LAYERS.slice(0, i + 1).flat()), '^src/main\\.ts$'] },
    'Imports point downwards, see LAYERS.',
  ),
);

export const forbidden = [
  forbid('no-circles', {}, { circular: true }, 'Two files that need each other are one subject.'),
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
    'db-imports-no-feature',
    { path: '^src/db/' },
    { path: '^src/(?!db/|(config|clock)\\.ts)' },
    'Everything else stands on db/, so db/ depends on nothing else.',
  ),
  forbid(
    'http-imports-no-feature',
    { path: '^src/http/' },
    { path: '^src/(?!http/|db/errors\\.ts|(clock|config|describe-error|errors|ids|metrics|version)\\.ts)' },
    'http/ knows no feature and no Context: it gets what it needs as arguments.',
  ),
  forbid(
    'http-only-from-routes',
    { path: '^src/[^/]+/', pathNot: ['^src/(http|api)/', 'routes\\.ts$'] },
    { path: '^src/http/' },
    'Actions and stores do not know that they are called over HTTP.',
  ),
  forbid(
    'features-are-independent',
    { path: inside(FEATURES) },
    { path: inside(FEATURES), pathNot: '^src/$1/' },
    'What two features share lives below them, in rma/ for example.',
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
