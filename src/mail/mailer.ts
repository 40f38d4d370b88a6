import { setTimeout as pause } from 'node:timers/promises';
import type { Transporter } from 'nodemailer';
import type { Logger } from 'pino';
import { BoundedQueue } from '../lib/bounded-queue.ts';
import { withTimeout } from '../lib/time.ts';
import type { MailSettings } from '../platform/config.ts';

export interface Mail {
  to: string;
  subject: string;
  text: string;
  html: string;
}

/** The pauses between attempts. After the last attempt the mail is dropped. */
const RETRY_AFTER_MS = [1_000, 5_000, 30_000];
const ATTEMPT_MS = 20_000;
/** nodemailer's limits for a silent server. */
const SILENCE_LIMITS = { connectionTimeout: 10_000, greetingTimeout: 10_000, socketTimeout: 15_000 };
const QUEUE_LIMITS = {
  waiting: 200,
  withinMs: 10 * 60_000,
  refusal: () => Object.assign(new Error('too many mails wait'), { code: 'TOO_MANY' }),
};

const REASONS: Record<string, string> = {
  EAUTH: 'the mail server does not accept the user and password in SMTP_URL',
  ETLS: 'the connection to the mail server could not be encrypted (SMTP_URL, SMTP_ALLOW_PLAIN)',
  EENVELOPE: 'the mail server does not accept the sender (MAIL_FROM) or the recipient',
  EMESSAGE: 'the mail server does not accept the mail',
  TOO_MANY: 'too many mails wait',
};

/** Returns what may be logged: the server's own words could contain the address. */
const mailErrorOf = (error: unknown) => {
  const { code = 'unknown', responseCode: status } = error as { code?: string; responseCode?: number };
  const reason = REASONS[code] ?? 'the mail server cannot be reached, or does not answer (SMTP_URL)';
  return { code, status, reason };
};

const timeoutError = (): Error =>
  Object.assign(new Error('the mail server took too long'), { code: 'ETIMEDOUT' });

/** The library is loaded with the first mail, since most processes send none. */
const openTransport = async ({ smtpUrl, requireTls }: MailSettings): Promise<Transporter> => {
  const { createTransport } = await import('nodemailer');
  return createTransport({
    url: smtpUrl,
    // Options in the query of the URL override these.
    ...(requireTls ? { requireTLS: true, ignoreTLS: false } : {}),
    ...SILENCE_LIMITS,
    disableFileAccess: true,
    disableUrlAccess: true,
  });
};

/** Describes what is wrong with the mail server; null if it can be reached, uses TLS where it must and accepts the login. */
export const checkMailServer = async (settings: MailSettings): Promise<string | null> =>
  problemWith(settings, (transport) => transport.verify());

export const sendTestMail = async (
  settings: MailSettings,
  to: string,
  url: string,
): Promise<string | null> => {
  const text = `This mail shows that ${url} can send mails.`;
  const message = { from: settings.from, to: { name: '', address: to }, subject: 'Test mail', text };
  return problemWith(settings, (transport) => transport.sendMail(message));
};

const problemWith = async (
  settings: MailSettings,
  work: (transport: Transporter) => Promise<unknown>,
): Promise<string | null> => {
  const transport = await openTransport(settings);
  try {
    await withTimeout(work(transport), ATTEMPT_MS, timeoutError);
    return null;
  } catch (error) {
    const { code, status, reason } = mailErrorOf(error);
    return `${reason} [${[code, status].filter(Boolean).join(' ')}]`;
  } finally {
    transport.close();
  }
};

/** Sends mails after the response, so that a slow mail server delays no request. `onEnd` gets the result of each mail. */
export const openMailer = (
  settings: MailSettings,
  log: Logger,
  onEnd: (result: 'sent' | 'failed') => void = () => {},
) => {
  const stopping = new AbortController();
  const ordinary = new BoundedQueue({ ...QUEUE_LIMITS, atOnce: 2 });
  // Their senders are limited individually, so many may wait: a slow mail server must not drop the one that matters.
  const warnings = new BoundedQueue({ ...QUEUE_LIMITS, atOnce: 1, waiting: 5_000, withinMs: 60 * 60_000 });
  const unfinished = new Set<Promise<void>>();
  let allSent = true;
  let transport: Promise<Transporter> | null = null;

  const deliver = async (
    queue: BoundedQueue,
    mail: Mail,
    [waitMs, ...later] = RETRY_AFTER_MS,
  ): Promise<void> => {
    try {
      transport ??= openTransport(settings);
      const open = await transport;
      // As an object, the address cannot be parsed as two addresses.
      const message = { ...mail, from: settings.from, to: { name: '', address: mail.to } };
      await queue.run(() => withTimeout(open.sendMail(message), ATTEMPT_MS, timeoutError));
      onEnd('sent');
    } catch (error) {
      const reason = mailErrorOf(error);
      // The queue is full, or the server refused the mail permanently: another attempt would not help.
      const isFinal = reason.code === 'TOO_MANY' || (reason.status ?? 0) >= 500;
      if (waitMs === undefined || isFinal || stopping.signal.aborted) {
        allSent = false;
        onEnd('failed');
        log.error(reason, 'a mail could not be sent and was given up');
        return;
      }
      log.warn(reason, 'a mail could not be sent; it will be tried again');
      // The pause ends early when the process stops, and the attempt after it is the last.
      await pause(waitMs, null, { signal: stopping.signal, ref: false }).catch(() => {});
      await deliver(queue, mail, later);
    }
  };
  const start = (queue: BoundedQueue, mail: Mail): void => {
    const sending = deliver(queue, mail).finally(() => unfinished.delete(sending));
    unfinished.add(sending);
  };
  return {
    send: (mail: Mail): void => start(ordinary, mail),
    /** Sends a mail that may warn a victim. It has a separate queue, so that a flood of other mails cannot drop it. */
    warn: (mail: Mail): void => start(warnings, mail),
    /** Waits for mails that are being sent, without further retries. Returns whether the server has accepted every mail so far. */
    async finish(): Promise<boolean> {
      stopping.abort();
      await Promise.all(unfinished);
      return allSent;
    },
  };
};
export type Mailer = ReturnType<typeof openMailer>;
