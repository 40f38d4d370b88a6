import { setTimeout as pause } from 'node:timers/promises';
import type { Transporter } from 'nodemailer';
import { BoundedQueue } from '../lib/bounded-queue.ts';
import { withTimeout } from '../lib/time.ts';
import type { MailSettings } from '../service/config.ts';
import type { Context } from '../service/context.ts';

export interface Mail {
  to: string;
  subject: string;
  text: string;
  html: string;
}

/** Sends mails after the request that asked for them: a slow or dead mail server delays no answer. */
export interface Mailer {
  /** Whether the operator set up a mail server. Without one `send` does nothing. */
  isOn: boolean;
  send(mail: Mail): void;
  /** Waits for what is being sent, and retries nothing any more. Says whether the server accepted every mail so far. */
  finish(): Promise<boolean>;
}

/** Between the attempts; after the last one the mail is given up. */
const RETRY_AFTER_MS = [1_000, 5_000, 30_000];
/** For the whole exchange of one attempt. */
const ATTEMPT_MS = 20_000;
/** nodemailer ends a connection by these when the server says nothing. */
const SILENCE = { connectionTimeout: 10_000, greetingTimeout: 10_000, socketTimeout: 15_000 };
const LIMITS = {
  atOnce: 2,
  waiting: 200,
  withinMs: 10 * 60_000,
  refusal: () => Object.assign(new Error('too many mails wait'), { code: 'TOO_MANY' }),
};

/** What may be logged: the server's words could repeat the address. */
const reasonOf = (error: unknown): { code: string; answer: number | null } => {
  const { code, responseCode } = error as { code?: unknown; responseCode?: unknown };
  return { code: String(code ?? 'unknown'), answer: typeof responseCode === 'number' ? responseCode : null };
};

/** The server understood and said no; asking again changes nothing. */
const isFinal = (error: unknown): boolean => {
  const { code, answer } = reasonOf(error);
  return code === 'TOO_MANY' || (answer !== null && answer >= 500);
};

const tooLate = (): Error => Object.assign(new Error('the mail server took too long'), { code: 'ETIMEDOUT' });

/** Loaded with the first mail: most processes send none. */
const openTransport = async ({ smtpUrl, requireTls }: MailSettings): Promise<Transporter> => {
  const { createTransport } = await import('nodemailer');
  return createTransport({
    url: smtpUrl,
    // What the URL says in its query comes after this.
    ...(requireTls ? { requireTLS: true, ignoreTLS: false } : {}),
    ...SILENCE,
    disableFileAccess: true,
    disableUrlAccess: true,
  });
};

export const openMailer = ({ config, log }: Context): Mailer => {
  const { mail: settings } = config;
  if (!settings) return { isOn: false, send: () => {}, finish: async () => true };
  const stopping = new AbortController();
  const queue = new BoundedQueue(LIMITS);
  const unfinished = new Set<Promise<void>>();
  let allSent = true;
  let transport: Promise<Transporter> | null = null;

  const attempt = async ({ to, ...mail }: Mail): Promise<void> => {
    transport ??= openTransport(settings);
    const open = await transport;
    // As an object, so that nothing in it is read as a second address.
    const message = { ...mail, from: settings.from, to: { name: '', address: to } };
    await queue.run(() => withTimeout(open.sendMail(message), ATTEMPT_MS, tooLate));
  };
  const deliver = async (mail: Mail, retryAfterMs = RETRY_AFTER_MS): Promise<boolean> => {
    try {
      await attempt(mail);
      return true;
    } catch (error) {
      const [waitMs, ...later] = retryAfterMs;
      if (waitMs === undefined || isFinal(error) || stopping.signal.aborted) {
        log.error(reasonOf(error), 'a mail could not be sent and was given up');
        return false;
      }
      log.warn(reasonOf(error), 'a mail could not be sent; it will be tried again');
      // Cut short when the process stops: the attempt after it is the last.
      await pause(waitMs, null, { signal: stopping.signal, ref: false }).catch(() => {});
      return deliver(mail, later);
    }
  };
  return {
    isOn: true,
    send(mail) {
      const sending = deliver(mail).then((sent) => {
        unfinished.delete(sending);
        allSent &&= sent;
      });
      unfinished.add(sending);
    },
    async finish() {
      stopping.abort();
      await Promise.all(unfinished);
      return allSent;
    },
  };
};
