import { sendTestMail } from '../mail/mailer.ts';
import { readConfig } from '../platform/config.ts';
import { CliFailure } from '../platform/start-failure.ts';
import { print } from './command.ts';

/** Sends one email with a single attempt, so that the response of the mail server is known at once. It needs no database. */
export const mailTest = async (to: string, json: boolean | undefined): Promise<void> => {
  const { mail, publicUrl } = readConfig(process.env);
  if (!mail) throw new CliFailure('no mail server is set up: set SMTP_URL and MAIL_FROM');
  const problem = await sendTestMail(mail, to, publicUrl);
  if (problem) throw new CliFailure(`the mail was not sent: ${problem}`);
  print({ sent: true, to, from: mail.from }, json);
};
