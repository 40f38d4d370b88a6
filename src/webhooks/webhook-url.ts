// The form of a webhook URL. Which addresses it may lead to is in address-guard.ts.

/** The parser would skip line breaks and tabs, and add slashes that are missing, without a word. */
export const urlIn = (value: string): URL | null =>
  /^[a-z][a-z0-9+.-]*:\/\/[^\s/\\]\S*$/i.test(value) && URL.canParse(value) ? new URL(value) : null;

/** What is wrong with it, as a phrase after its name; null where nothing is. */
export const formErrorOf = (url: URL | null, allowPlainHttp: boolean): string | null => {
  if (!url || url.port === '0' || /^\.|\.\./.test(url.hostname))
    return 'must be a whole web address, https://example.com/hook for example';
  if (url.protocol !== 'https:' && !(allowPlainHttp && url.protocol === 'http:'))
    return 'must be an https address';
  return url.username || url.password ? 'must not hold a user name or password' : null;
};
