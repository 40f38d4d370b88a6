import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { build, type Rolldown } from 'vite';
import { compress } from '../compress.mjs';
import { readDocuments } from '../openapi-documents.ts';
import { withErrorFacts } from './errors-page.ts';
import { layOut } from './layout.ts';
import { withPageLinks } from './links.ts';
import { articleOf, plainMarkdown } from './markdown.ts';
import { type DocsPage, EXAMPLE_URL, fileOf, PAGES, readText, rootPath } from './pages.ts';
import { postmanCollection } from './postman-collection.ts';
import { privacyText } from './privacy-page.ts';
import { recipesText } from './recipes-page.ts';
import { referencePage, referenceScripts } from './reference-page.ts';
import { operationsOf, referenceText } from './reference-text.ts';
import { searchIndex } from './search-index.ts';

// Builds the documentation that the service serves at /docs into dist/docs: a page and its Markdown for each entry of PAGES,
// their style, script and search index, the Postman collection, and llms.txt. Nothing in it comes from another host.

const BUILT = rootPath('dist/docs');
const ASSETS = join(BUILT, 'assets');

const hashOf = (content: string | Buffer): string =>
  createHash('sha256').update(content).digest('base64url').slice(0, 10);

/** Writes a file with a hash of its content in its name, compressed, and gives that name. */
const writeAsset = (name: string, ending: string, content: string | Buffer): string => {
  const file = `${name}-${hashOf(content)}.${ending}`;
  writeFileSync(join(ASSETS, file), content);
  // The large one takes ten seconds.
  compress(join(ASSETS, file), { keep: true });
  return file;
};

/** The fonts of the admin app, with their licence beside them: their style, and the file that most text needs. */
const writeFonts = (): { style: string; files: string[]; main: string } => {
  const files: string[] = [];
  const style = readText('admin/src/fonts.css').replaceAll(/url\("([^"]+)"\)/g, (_, path: string) => {
    const content = readFileSync(rootPath(`node_modules/${path}`));
    const file = `${basename(path, '.woff2')}-${hashOf(content)}.woff2`;
    writeFileSync(join(ASSETS, file), content);
    files.push(file);
    return `url("${file}")`;
  });
  const licence = 'geist-licence.txt';
  writeFileSync(join(ASSETS, licence), readText(`admin/public/${licence}`));
  return {
    style,
    files: [...files, licence],
    main: files.find((name) => name.startsWith('geist-latin-wght')) ?? '',
  };
};

const clientScript = async (entry: string): Promise<string> => {
  const built = (await build({
    configFile: false,
    root: rootPath('docs/site'),
    logLevel: 'warn',
    build: {
      write: false,
      target: 'es2022',
      lib: { entry, formats: ['iife'], name: 'docs' },
    },
  })) as Rolldown.RolldownOutput[];
  const [script] = built.flatMap(({ output }) => output);
  if (script?.type !== 'chunk') throw new Error('the script of the pages was not built');
  return script.code;
};

const SOURCES: Record<string, () => string> = {
  errors: () => withErrorFacts(readText('docs/guide/errors.md')),
  recipes: recipesText,
  privacy: privacyText,
};
const sourceOf = (page: DocsPage): string =>
  withPageLinks(SOURCES[page.name]?.() ?? readText(fileOf(page)), fileOf(page));

const llmsText = (): string => {
  const lines = PAGES.map(
    ({ name, label, summary }) => `- [${label}](${EXAMPLE_URL}/docs/${name}.md): ${summary}`,
  );
  return `# Handback\n\n> Offline repairs and trade returns over HTTP with JSON, for a shop's own systems (till, service desk, ERP).\n\n## Documentation\n\n${lines.join('\n')}\n\n## Machine-readable\n\n- [OpenAPI 3.1 document](${EXAMPLE_URL}/api/v1/external/v1/openapi.json): every call, field, answer and event.\n- [Postman collection](${EXAMPLE_URL}/docs/postman.json): the same calls, ready to send.\n`;
};

const writePage = (name: string, html: string): void => {
  const file = join(BUILT, `${name}.html`);
  writeFileSync(file, html);
  compress(file);
};

export const buildSite = async (): Promise<void> => {
  mkdirSync(ASSETS, { recursive: true });
  const { external } = await readDocuments(EXAMPLE_URL);
  const written = PAGES.filter(({ name }) => name !== 'reference').map((page) => {
    const text = sourceOf(page);
    return { page, text, article: articleOf(text) };
  });
  const index = searchIndex(
    written.map(({ page, article }) => ({ page, sections: article.sections })),
    operationsOf(external),
  );
  const fonts = writeFonts();
  const assets = {
    frameStyle: writeAsset('frame', 'css', `${fonts.style}\n${readText('docs/site/frame.css')}`),
    articleStyle: writeAsset('article', 'css', readText('docs/site/article.css')),
    font: fonts.main,
    theme: writeAsset('theme', 'js', await clientScript('theme.ts')),
    script: writeAsset('site', 'js', await clientScript('main.ts')),
    searchIndex: writeAsset('search', 'json', index),
  };
  const reference = (await referenceScripts()).map(([name, content]) => writeAsset(name, 'js', content));

  const current = [...Object.values(assets), ...fonts.files, ...reference];
  for (const old of readdirSync(ASSETS))
    if (!current.some((name) => old.startsWith(name))) rmSync(join(ASSETS, old));
  for (const { page, text, article } of written) {
    writePage(page.name, layOut(page, article, assets));
    writeFileSync(join(BUILT, `${page.name}.md`), plainMarkdown(text));
  }
  writePage('reference', referencePage(assets, reference));
  writeFileSync(
    join(BUILT, 'reference.md'),
    `${readText('docs/guide/reference.md')}\n${referenceText(external)}`,
  );
  writeFileSync(join(BUILT, 'postman.json'), JSON.stringify(postmanCollection(external)));
  writeFileSync(join(BUILT, 'llms.txt'), llmsText());
};
