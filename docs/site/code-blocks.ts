/** Replaces the example's address with the address of this page, which is correct behind any proxy. */
export const fillInBaseUrl = (): void => {
  const base = new URL('..', new URL('.', location.href)).href.replace(/\/$/, '');
  for (const place of document.querySelectorAll('[data-base-url]')) place.textContent = base;
};

const SHOWN_FOR_MS = 2000;

const copy = async (button: HTMLButtonElement, text: string): Promise<void> => {
  const said = await navigator.clipboard.writeText(text).then(
    () => 'Copied',
    () => 'Not copied: select the text',
  );
  button.textContent = said;
  setTimeout(() => {
    button.textContent = 'Copy';
  }, SHOWN_FOR_MS);
};

export const addCopyButtons = (): void => {
  // Browsers allow clipboard access only on https and localhost.
  if (!navigator.clipboard) return;
  for (const block of document.querySelectorAll('.code')) {
    const button = document.createElement('button');
    button.type = 'button';
    button.className = 'copy';
    button.textContent = 'Copy';
    button.setAttribute('aria-live', 'polite');
    button.addEventListener('click', () =>
      copy(button, `${block.querySelector('pre')?.textContent?.trimEnd()}\n`),
    );
    block.append(button);
  }
};

/** Makes blocks that scroll sideways reachable with the keyboard. */
export const makeScrollable = (): void => {
  const watch = new ResizeObserver((entries) => {
    for (const { target } of entries) {
      if (target.scrollWidth > target.clientWidth) target.setAttribute('tabindex', '0');
      else target.removeAttribute('tabindex');
    }
  });
  for (const each of document.querySelectorAll('pre, .table')) watch.observe(each);
};
