import MiniSearch, { type SearchResult } from 'minisearch';
import { SEARCH_OPTIONS, type SearchEntry } from './search-options.ts';

const MOST_RESULTS = 12;

const indexUrl = document.currentScript?.dataset['searchIndex'] ?? '';

/** The index is fetched on the first search. */
const loadIndex = async (): Promise<MiniSearch<SearchEntry>> => {
  const response = await fetch(indexUrl);
  if (!response.ok) throw new Error(`the index returned ${response.status}`);
  return MiniSearch.loadJSON(await response.text(), SEARCH_OPTIONS);
};

const textIn = (tag: string, className: string, text: string): HTMLElement => {
  const element = document.createElement(tag);
  element.className = className;
  element.textContent = text;
  return element;
};

const resultItem = (result: SearchResult, at: number): HTMLElement => {
  const item = document.createElement('li');
  item.id = `result-${at}`;
  item.role = 'option';
  item.ariaSelected = 'false';
  item.dataset['address'] = String(result.id);
  item.append(
    textIn('span', 'result-page', String(result['page'])),
    textIn('span', 'result-heading', String(result['heading'])),
    textIn('span', 'result-excerpt', String(result['excerpt'])),
  );
  return item;
};

class SearchDialog {
  private index: Promise<MiniSearch<SearchEntry>> | null = null;
  private chosen = 0;
  private readonly dialog: HTMLDialogElement;
  private readonly input: HTMLInputElement;
  private readonly list: HTMLElement;
  private readonly note: HTMLElement;

  constructor(dialog: HTMLDialogElement) {
    const part = <Part extends HTMLElement>(id: string) => dialog.querySelector(`#${id}`) as Part;
    this.dialog = dialog;
    this.input = part('search-input');
    this.list = part('search-results');
    this.note = part('search-note');
    this.input.addEventListener('input', () => this.search());
    this.input.addEventListener('keydown', (event) => this.onKey(event));
    this.list.addEventListener('click', ({ target }) => this.go((target as Element).closest('li')));
    part('search-close').addEventListener('click', () => dialog.close());
    // A click outside the dialog closes it.
    dialog.addEventListener('click', ({ target }) => {
      if (target === dialog) dialog.close();
    });
  }

  open(): void {
    if (this.dialog.open) return;
    this.dialog.showModal();
    this.input.select();
  }

  private async search(): Promise<void> {
    this.index ??= loadIndex();
    const index = await this.index.catch(() => null);
    if (!index) {
      this.index = null;
      this.note.textContent = 'The search index could not be loaded. Keep typing to try again.';
      return;
    }
    const query = this.input.value.trim();
    const found = query ? index.search(query).slice(0, MOST_RESULTS) : [];
    this.list.replaceChildren(...found.map(resultItem));
    this.input.ariaExpanded = String(found.length > 0);
    this.note.textContent = this.noteFor(query, found.length);
    this.choose(0);
  }

  private noteFor(query: string, count: number): string {
    if (!query) return '';
    if (count === 0) return `Nothing was found for “${query}”.`;
    return count === 1 ? '1 result' : `${count} results`;
  }

  private choose(at: number): void {
    const items = [...this.list.children] as HTMLElement[];
    this.chosen = items.length === 0 ? 0 : (at + items.length) % items.length;
    for (const [i, item] of items.entries()) item.ariaSelected = String(i === this.chosen);
    const item = items[this.chosen];
    if (item) this.input.setAttribute('aria-activedescendant', item.id);
    else this.input.removeAttribute('aria-activedescendant');
    item?.scrollIntoView({ block: 'nearest' });
  }

  private onKey(event: KeyboardEvent): void {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step) this.choose(this.chosen + step);
    else if (event.key === 'Enter') this.go(this.list.children[this.chosen] ?? null);
    else return;
    event.preventDefault();
  }

  private go(item: Element | null): void {
    if (!(item instanceof HTMLElement)) return;
    this.dialog.close();
    location.assign(new URL(item.dataset['address'] ?? '', location.href));
  }
}

const isTyping = ({ target }: KeyboardEvent): boolean =>
  target instanceof HTMLElement &&
  (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName));

export const setUpSearch = (): void => {
  const dialog = document.querySelector<HTMLDialogElement>('#search');
  if (!dialog) return;
  const search = new SearchDialog(dialog);
  document.querySelector('#search-button')?.addEventListener('click', () => search.open());
  document.addEventListener('keydown', (event) => {
    const asked =
      (event.key === '/' && !isTyping(event)) || (event.key === 'k' && (event.ctrlKey || event.metaKey));
    if (!asked) return;
    event.preventDefault();
    search.open();
  });
};
