import ipaddr from 'ipaddr.js';

/** Why a webhook URL may not be saved, as a phrase after its name, or null where it may. */
export const faultOfWebhookUrl = (
  value: string,
  { allowPrivate }: { allowPrivate: boolean },
): string | null => {
  const url = URL.canParse(value) ? new URL(value) : null;
  if (!url || !['http:', 'https:'].includes(url.protocol)) return 'must be an http or https address';
  if (url.username || url.password) return 'must not hold a user name or password';
  if (allowPrivate) return null;
  if (url.protocol === 'http:') return 'must be an https address';
  const host = url.hostname.replace(/^\[|\]$|\.$/g, '');
  const isPublic = ipaddr.isValid(host)
    ? ipaddr.process(host).range() === 'unicast'
    : !/(^|\.)localhost$/.test(host);
  return isPublic ? null : 'must not lead into a private network';
};
