import type { Context } from './context.ts';
import { findFact } from './db/installation-facts.ts';
import { HOW_TO_BUILD, isBuilt } from './http/built-files.ts';
import { VERSION } from './version.ts';

/** What a start says on standard error. It points only to pages that are there. */
export const greeting = (url: string, setUpToken: string | null): string[] => [
  `Handback ${VERSION} is ready at ${url}${isBuilt('docs') ? ` (documentation: ${url}/docs)` : ''}`,
  ...missingPages(),
  ...(setUpToken ? [firstSteps(`${url}/admin/set-up#${setUpToken}`)] : []),
];

/** Where the service was when it last started, unless this command's settings say how callers reach it. */
export const knownAddress = async ({ db, config }: Pick<Context, 'db' | 'config'>): Promise<string> => {
  const saved = config.publicUrlIsSet ? null : await findFact(db, 'address');
  return saved ?? config.publicUrl;
};

const PAGES = { admin: 'the admin app', docs: 'the documentation' };

const missingPages = (): string[] => {
  const missing = Object.entries(PAGES).filter(([name]) => !isBuilt(name));
  const titles = missing.map(([, title]) => title).join(' and ');
  return titles
    ? [
        `Not built here: ${titles}. To have what is missing, ${HOW_TO_BUILD}. npx handback --help lists what works without.`,
      ]
    : [];
};

const firstSteps = (link: string): string => `
There is no shop yet. Either create the first one and its Admin here (the link works once, for one hour; a restart prints
a new one):

  ${link}

or, in another terminal in this folder:

  npx handback demo                          a demo shop with sample data, and a key to call it
  npx handback shop create --name "My shop"  a shop of your own; then, with the id it prints,
  npx handback client create --shop ID --name "Till"
`;
