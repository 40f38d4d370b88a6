import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { adminCaller, newPerson, newUser, PASSWORD } from '../support/admin.ts';
import { UNKNOWN_ID } from '../support/api.ts';
import { type Harness, harness } from '../support/harness.ts';
import { timed } from '../support/process.ts';
import { atOnce, auditLog } from '../support/responses.ts';
import { type MailServer, mailServer, silentMailServer, tokenIn } from '../support/smtp.ts';
import { scaled, until, untilMatches } from '../support/until.ts';

const ask = (t: Harness, email: string, ip?: string) =>
  adminCaller(t).post('/password-links', { email }, ip ? { ip } : {});
const PUBLIC_URL = 'https://returns.example.com';
const mailing = async (more: Record<string, string> = {}) => {
  const mails = await mailServer();
  return { mails, t: await harness({ env: { ...mails.env, ...more } }) };
};

describe('with a mail server', () => {
  it('an invitation and a new link are also mailed, and name the shop', async () => {
    const { mails, t } = await mailing({ PUBLIC_URL });
    await sql`update shops set name = 'Köhler & <b>Sons</b>' where id = ${t.shop.id}`.execute(t.ctx.db);
    const admin = await newPerson(t);
    expect((await adminCaller(t).get('/sign-in-options')).body).toEqual({
      passwordLinks: true,
      passwords: true,
      provider: null,
    });
    const made = await admin.post('/users', { email: 'grace@example.com', name: 'Grace', role: 'STAFF' });
    expect(made.body.mailed).toBe(true);
    const invited = await mails.got(1);
    expect(invited).toMatchObject({ from: 'returns@shop.example', to: ['grace@example.com'] });
    const { link } = made.body;
    for (const words of [link, `href="${link}"`, 'Hello Grace,', '72 hours', '&lt;b&gt;Sons&lt;/b&gt;'])
      expect(invited.text).toContain(words);

    const person = await newPerson(t, { role: 'STAFF' });
    const renewed = (await admin.post(`/users/${person.id}/link`)).body;
    const mail = await mails.got(2);
    expect(mail.to).toEqual([person.email]);
    for (const words of [renewed.link, 'one hour']) expect(mail.text).toContain(words);
  });

  it('a forgotten password is reset by email only, and the response does not reveal who has an account', async () => {
    const { mails, t } = await mailing({ PUBLIC_URL });
    const { email, id } = await newUser(t);
    await sql`update users set last_sign_in_at = 1 where id = ${id}`.execute(t.ctx.db);
    const [known, unknown] = [await ask(t, email.toUpperCase()), await ask(t, 'nobody@example.com')];
    for (const response of [known, unknown]) {
      expect(response).toHaveStatus(202);
      expect(response.body).toEqual({ accepted: true });
    }
    const mail = await mails.got(1);
    expect(mail.to).toEqual([email]);
    const token = tokenIn(mail.text);
    expect(mail.text).toContain(`${PUBLIC_URL}/admin/link#${token}`);

    // Another request mails another link and ends none, since strangers can ask, too. At most three an hour.
    for (let i = 0; i < 4; i += 1) expect(await ask(t, email)).toHaveStatus(202);
    await mails.got(3);
    const signedIn = await adminCaller(t).post('/links/use', { token, password: 'a better password' });
    expect(signedIn).toHaveStatus(200);
    for (const { text } of mails.received.slice(0, 3))
      expect(await adminCaller(t).post('/links/check', { token: tokenIn(text) })).toFailWith(
        410,
        'LINK_EXPIRED',
      );
    // The fourth tells them that their password was changed.
    await until('the notice comes', () => mails.received[3]?.text.includes('Your password was changed.'));
    expect(mails.received).toHaveLength(4);
  });

  it('only a mail that is sent counts towards the limit', async () => {
    const { mails, t } = await mailing();
    const admin = await newPerson(t);
    // Three for an unknown address, and a hundred for people who are not in the shop.
    for (let i = 0; i < 4; i += 1) expect(await ask(t, 'grace@example.com')).toHaveStatus(202);
    for (let i = 0; i < 100; i += 1) expect(await admin.post(`/users/${UNKNOWN_ID}/link`)).toFailWith(404);
    const made = await admin.post('/users', { email: 'grace@example.com', role: 'STAFF' });
    expect(made.body.mailed).toBe(true);
    await ask(t, 'grace@example.com', '198.51.100.9');
    await mails.got(2);
    expect(await auditLog(admin, 'LINK_ASKED')).toMatchObject([
      { subject: { id: made.body.id }, address: '198.51.100.9', data: { count: 1 } },
    ]);
  });

  it('a mail is sent over TLS, or not at all unless the operator allows it', async () => {
    const sent = async (mails: MailServer, more: Record<string, string>): Promise<string[]> => {
      // This name is not loopback, although it resolves to it.
      const SMTP_URL = mails.env.SMTP_URL.replace('127.0.0.1', '0.0.0.0');
      const t = await harness({ env: { ...mails.env, SMTP_URL, ...more } });
      await (await newPerson(t)).post('/users', { email: 'grace@example.com', role: 'STAFF' });
      return until('it is sent or fails', () => {
        const failed = t.logs.filter((line) => line.includes('a mail could not be sent'));
        return mails.received.length > 0 ? ['sent'] : failed.length > 0 && failed;
      });
    };
    const plain = await mailServer();
    expect((await sent(plain, {}))[0]).toContain('"code":"ETLS"');
    expect(plain.attempts).toBe(0);
    expect(await sent(plain, { SMTP_ALLOW_PLAIN: 'true' })).toEqual(['sent']);
    // With a self-signed certificate: it is encrypted, or nothing is sent.
    const encrypted = await mailServer({ offersTls: true });
    expect((await sent(encrypted, {}))[0]).toContain('"code":"E');
    expect(encrypted.attempts).toBe(0);
  });

  it('reset requests are limited to twenty an hour from one address', async () => {
    const { t } = await mailing();
    for (let i = 0; i < 20; i += 1)
      expect(await ask(t, `nobody-${i}@example.com`, '198.51.100.7')).toHaveStatus(202);
    expect(await ask(t, 'nobody@example.com', '198.51.100.7')).toFailWith(429);
    expect(await ask(t, 'nobody@example.com')).toHaveStatus(202);
  });

  it('a shop can mail a hundred links an hour; further links are still shown', async () => {
    const { mails, t } = await mailing();
    const admin = await newPerson(t);
    const path = `/users/${(await newUser(t)).id}/link`;
    for (let i = 0; i < 10; i += 1)
      for (const { body } of await atOnce(10, () => admin.post(path))) expect(body.mailed).toBe(true);
    const response = await admin.post(path);
    expect(response).toHaveStatus(201);
    expect(response.body.mailed).toBe(false);
    const stranger = await newPerson(t, { shop: (await t.addShop()).shop });
    const theirs = await newUser(t, { shop: stranger.shop });
    expect((await stranger.post(`/users/${theirs.id}/link`)).body.mailed).toBe(true);
    await mails.got(101);
  });

  it('many mails about receivers are limited, and delay no mail that warns a victim', async () => {
    const { mails, t } = await mailing();
    const others = [await t.addShop(), await t.addShop(), await t.addShop()];
    const admins = await Promise.all(others.map(({ shop }) => newUser(t, { shop })));
    mails.holds = (address) => admins.some(({ email }) => email === address);
    for (const { shop } of others) {
      const client = { id: UNKNOWN_ID, name: 'Till', shopId: shop.id, shopName: shop.name };
      for (let i = 0; i < 101; i += 1) await t.ctx.notifyReceiverState(client, 'HTTP 500');
    }
    const logged = (words: string) => t.logs.filter((line) => line.includes(words)).length;
    expect(logged('too many mails about receivers')).toBe(3);
    // Of 300 two are being sent and 200 wait.
    await until('the rest is given up', () => logged('too many mails wait') === 98);

    const { email, ...person } = await newPerson(t);
    const body = { currentPassword: PASSWORD, newPassword: 'a better password' };
    expect(await person.put('/session/password', body)).toHaveStatus(200);
    const notice = await until('the notice comes', () => mails.received[0]);
    expect(notice.to).toEqual([email]);
    expect(notice.text).toContain('Your password was changed.');
    mails.letGo();
  });

  it('a temporary failure is retried, a permanent one is not; neither address nor link is logged', async () => {
    const { mails, t } = await mailing();
    const [admin, { id, email }] = [await newPerson(t), await newUser(t)];
    mails.responses.push(451);
    const { link } = (await admin.post(`/users/${id}/link`)).body;
    await mails.got(1);
    expect(mails.attempts).toBe(2);

    mails.responses.push(550);
    expect(await admin.post(`/users/${id}/link`)).toHaveStatus(201);
    await untilMatches(() => t.logs.join('\n'), /given up/);
    const counted = await t.ctx.metrics.registry.metrics();
    expect(counted).toContain('handback_mails_total{result="sent"} 1\n');
    expect(counted).toContain('handback_mails_total{result="failed"} 1\n');
    expect(await t.ctx.mail?.finish()).toBe(false);
    expect(mails.attempts).toBe(3);
    const logged = t.logs.join('');
    for (const response of [451, 550]) expect(logged).toContain(`"status":${response}`);
    for (const hidden of [email, tokenIn(link)]) expect(logged).not.toContain(hidden);
  });

  it('a server that never responds delays nothing', async () => {
    const silent = await silentMailServer();
    const t = await harness({ env: silent.env });
    const admin = await newPerson(t);
    const { value, ms } = await timed(() => admin.post('/users', { email: 'a@example.com', role: 'STAFF' }));
    expect(value.body).toMatchObject({ mailed: true, link: expect.stringContaining('/admin/link#') });
    expect(ms).toBeLessThan(scaled(5_000));
    for (let i = 0; i < 5; i += 1) expect(await ask(t, 'a@example.com')).toHaveStatus(202);
    await until('it was called', () => silent.connections.size > 0);
    for (const socket of silent.connections) socket.destroy();
    await untilMatches(() => t.logs.join('\n'), /tried again/);
  });
});

it('without a mail server the response is the same, no link is created, and the page says so', async () => {
  const t = await harness();
  const { email } = await newUser(t);
  expect((await adminCaller(t).get('/sign-in-options')).body).toEqual({
    passwordLinks: false,
    passwords: true,
    provider: null,
  });
  const response = await ask(t, email);
  expect(response).toHaveStatus(202);
  expect(response.body).toEqual({ accepted: true });
  expect(await t.ctx.db.selectFrom('access_links').select('user_id').execute()).toEqual([]);
});
