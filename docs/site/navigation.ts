/** On narrow screens the navigation opens with a button. */
export const setUpMenu = (): void => {
  const button = document.querySelector('#menu-button');
  const pages = document.querySelector('#pages');
  if (!button || !pages) return;
  const set = (open: boolean): void => {
    button.setAttribute('aria-expanded', String(open));
    pages.classList.toggle('open', open);
  };
  button.addEventListener('click', () => set(button.getAttribute('aria-expanded') !== 'true'));
  document.addEventListener('keydown', ({ key }) => {
    if (key !== 'Escape' || button.getAttribute('aria-expanded') !== 'true') return;
    set(false);
    (button as HTMLElement).focus();
  });
};

/** Highlights the section in view in "On this page". */
export const markContents = (): void => {
  const links = new Map(
    [...document.querySelectorAll<HTMLAnchorElement>('.contents a')].map((link) => [
      link.hash.slice(1),
      link,
    ]),
  );
  const headings = [...links.keys()]
    .map((id) => document.getElementById(id))
    .filter((found): found is HTMLElement => found !== null);
  if (headings.length === 0) return;
  const READ_FROM_TOP_PX = 120;
  const mark = (): void => {
    const current = headings.findLast((each) => each.getBoundingClientRect().top < READ_FROM_TOP_PX);
    for (const [id, link] of links)
      if (id === current?.id) link.setAttribute('aria-current', 'location');
      else link.removeAttribute('aria-current');
  };
  addEventListener('scroll', mark, { passive: true });
  mark();
};
