import type { GoToProvider } from '../../contract/admin-access.ts';
import { newStaffEmail, PersonName, staffEmail } from '../../contract/person-fields.ts';
import { OPERATOR } from '../audit/store.ts';
import type { Trx } from '../db/types.ts';
import type { Core } from '../platform/core.ts';
import { ServiceError } from '../platform/errors.ts';
import type { SealedFor } from '../platform/secrets.ts';
import type { Caller } from '../shops/plans.ts';
import { findShop } from '../shops/store.ts';
import { type Challenge, CLOCK_TOLERANCE_S, type Identity, ProviderRefusal } from './oidc.ts';
import { newNoPassword } from './passwords.ts';
import { removeFactor } from './second-factor.ts';
import { openSession, PROVIDER_COOKIE_S } from './sessions.ts';
import { isFirstUse, recordCounted, recordSignIn } from './sign-in.ts';
import type { SignInOrigin, StaffServices, UserRow } from './types.ts';
import {
  actorOf,
  addUser,
  auditUser,
  changeAccount,
  endLinksOf,
  endSessionsOf,
  lockOne,
  lockUser,
  normalizeEmail,
  updateUser,
  usersIn,
} from './users.ts';

// Signing in through the identity provider, and proving the identity there (docs/contract.md).

/** The content of the sealed cookie that the browser keeps while the person is at the provider. */
interface Journey extends Challenge, GoToProvider {
  startedAt: number;
  /** The hash of the session whose owner proves their identity; null for a sign-in. */
  provesFor: string | null;
}

/** Browsers drop a cookie of more than 4,096 bytes. After a longer path the person returns to the home page. */
const LONGEST_TO = 2_000;

const SEALED_JOURNEY: SealedFor = { table: 'sessions', column: 'provider', id: 'cookie' };

/** Returns the address to redirect to, and the cookie that the browser brings back. */
export const beginAtProvider = async (
  { provider, config, clock, secrets, log }: StaffServices,
  redirectUri: string,
  given: GoToProvider,
  provesFor: string | null,
) => {
  if (!provider) throw new ServiceError('NO_PROVIDER');
  try {
    const { url, challenge } = await provider.begin(redirectUri, provesFor !== null);
    const to = Buffer.byteLength(given.to ?? '') > LONGEST_TO ? null : given.to;
    const journey: Journey = { ...challenge, ...given, to, provesFor, startedAt: clock.now() };
    return { url: url.href, cookie: secrets.seal(JSON.stringify(journey), SEALED_JOURNEY) };
  } catch (error) {
    if (!(error instanceof ProviderRefusal)) throw error;
    log.warn({ refusal: error.refusal, ...error.details }, 'the identity provider cannot be used');
    const message = `${config.provider?.name} does not answer as it should: try again in a moment.`;
    throw new ServiceError('PROVIDER_AWAY', { message, cause: error });
  }
};

/** Throws unless the cookie is authentic, at most ten minutes old, and belongs to the sign-in that the browser returns from. */
const openJourney = ({ secrets, clock }: Core, cookie: string, state: string | null): Journey => {
  try {
    const journey: Journey = JSON.parse(secrets.open(cookie, SEALED_JOURNEY));
    const ageMs = Math.abs(clock.now() - journey.startedAt);
    if (ageMs < PROVIDER_COOKIE_S * 1000 && state === journey.state) return journey;
  } catch {
    // The cookie is missing, forged, or sealed with an earlier key.
  }
  throw new ProviderRefusal('EXPIRED', { cookie: cookie === '' ? 'missing' : 'does not fit' });
};

/** A copy of the cookie and the address is useless, even if the provider accepts its code twice. */
const spendState = async (ctx: StaffServices, { state }: Journey): Promise<void> => {
  if (!(await isFirstUse(ctx, 'provider state', state, PROVIDER_COOKIE_S * 1000)))
    throw new ProviderRefusal('EXPIRED', { cookie: 'used before' });
};

/** Handles the browser's return: returns the new session, if there is one, and what the sign-in page should show. */
export const returnFromProvider = async (
  ctx: StaffServices,
  from: SignInOrigin,
  address: URL,
  cookie: string,
) => {
  const { provider } = ctx;
  if (!provider) throw new ServiceError('NO_PROVIDER');
  const search: Record<string, string> = {};
  try {
    const journey = openJourney(ctx, cookie, address.searchParams.get('state'));
    const { to, newWindow, startedAt, provesFor } = journey;
    if (newWindow) search['window'] = 'new';
    if (to !== null) search['to'] = to;
    await spendState(ctx, journey);
    const identity = await provider.finish(journey, address);
    if (provesFor !== null) await proveThrough(ctx, identity, startedAt, provesFor);
    const token = provesFor === null ? await signInThrough(ctx, from, identity) : null;
    return { token, search: { ...search, provider: token === null ? 'proved' : 'signed-in' } };
  } catch (error) {
    // This also happens if an account is removed or created concurrently: trying again helps.
    const refused =
      error instanceof ServiceError ? new ProviderRefusal('EXPIRED', { code: error.code }) : error;
    if (!(refused instanceof ProviderRefusal)) throw error;
    const [{ address }, { refusal, details }] = [from, refused];
    ctx.log.warn({ address, refusal, ...details }, 'refused after a visit to the identity provider');
    await ctx.db.transaction().execute(async (trx) => {
      const user = details.userId && (await lockOne(trx, details.userId));
      if (user) await recordCounted(ctx, trx, user, { action: 'PROVIDER_REFUSED', address });
    });
    return { token: null, search: { ...search, provider: refusal } };
  }
};

const signInThrough = async (ctx: StaffServices, from: SignInOrigin, identity: Identity): Promise<string> => {
  const { token } = await changeAccount(ctx, async (trx) => {
    const linked = await findLinked(trx, identity);
    const email = linked?.email ?? verifiedEmail(identity);
    const known = linked ?? (await findByVerifiedEmail(trx, email, identity));
    const person = known ?? (await addNewUser(ctx, trx, from, email, identity.name));
    const after = linked ?? (await linkPerson(ctx, trx, from, person, identity));
    // A new account has no changes to report to its owner.
    const before = known ?? after;
    const nowMs = ctx.clock.now();
    // A provider may accept a person who entered their password hours ago, which proves nothing now.
    const agoMs = Math.max(0, Date.now() - (identity.authenticatedAt ?? 0));
    const session = { proved_at: nowMs - agoMs, through_provider: 1 } as const;
    const token = await openSession(trx, after, from, nowMs, session);
    await recordSignIn(ctx, trx, after, from);
    return { before, after, token };
  });
  return token;
};

const findLinked = (trx: Trx, { issuer, subject }: Identity): Promise<UserRow | undefined> =>
  usersIn(trx)
    .where('provider_issuer', '=', issuer)
    .where('provider_subject', '=', subject)
    .forUpdate()
    .executeTakeFirst();

const verifiedEmail = ({ email }: Identity): string => {
  const given = staffEmail().safeParse(email).data;
  if (!given) throw new ProviderRefusal('UNVERIFIED');
  return normalizeEmail(given);
};

const findByVerifiedEmail = async (trx: Trx, email: string, identity: Identity) => {
  const user = await usersIn(trx).where('email', '=', email).forUpdate().executeTakeFirst();
  if (!user) return undefined;
  if (user.provider_issuer === identity.issuer && user.provider_subject !== identity.subject)
    throw new ProviderRefusal('OTHER_PERSON', { userId: user.id });
  // Otherwise somebody who typed another person's email into their own account would share the account with that person.
  if (user.email_unconfirmed) throw new ProviderRefusal('UNCONFIRMED', { userId: user.id });
  return user;
};

/** Creates a user if the operator allows that for the domain of the email. */
const addNewUser = async (ctx: Core, trx: Trx, from: SignInOrigin, email: string, name: string | null) => {
  const { shopId = '', allowedDomains = [] } = ctx.config.provider?.newUsers ?? {};
  const domain = email.slice(email.lastIndexOf('@') + 1);
  if (!newStaffEmail().safeParse(email).success || !allowedDomains.includes(domain))
    throw new ProviderRefusal('UNKNOWN');
  if (!(await findShop(trx, shopId)))
    throw new ProviderRefusal('UNKNOWN', { OIDC_NEW_USERS: 'no such shop' });
  const actor = { ...OPERATOR, address: from.address };
  const person = { name: PersonName.safeParse(name).data ?? null, passwordHash: newNoPassword() };
  return addUser(ctx, trx, actor, { shopId, email, role: 'STAFF', ...person });
};

/**
 * From now on the email does not matter. An identity at an earlier issuer is replaced, since the operator chose another provider.
 * Whoever used the account until now may be somebody else, so everything that gives access ends: sessions, links, password,
 * second factor, and with them the trust in their browsers and addresses.
 */
const linkPerson = async (ctx: Core, trx: Trx, from: SignInOrigin, user: UserRow, identity: Identity) => {
  const { issuer, subject } = identity;
  const actor = { ...actorOf(user), address: from.address };
  await auditUser(ctx, trx, user, actor, 'PROVIDER_LINKED', { issuer });
  await endSessionsOf(trx, user.id);
  await endLinksOf(trx, user.id);
  await trx.deleteFrom('sign_in_addresses').where('user_id', '=', user.id).execute();
  if (user.factor_secret !== null) await removeFactor(trx, user);
  return updateUser(trx, user.id, {
    provider_issuer: issuer,
    provider_subject: subject,
    password_hash: newNoPassword(),
    password_exposed_at: null,
  });
};

/** Throws unless the owner of the session authenticated at the provider after they were sent there. */
const proveThrough = (ctx: Core, identity: Identity, startedAt: number, session: string): Promise<void> =>
  ctx.db.transaction().execute(async (trx) => {
    const own = trx.selectFrom('sessions').select('user_id').where('token_hash', '=', session);
    const userId = (await own.executeTakeFirst())?.user_id;
    const person = await findLinked(trx, identity);
    if (!person || person.id !== userId) throw new ProviderRefusal('OTHER_PERSON', { userId });
    const sinceMs = ctx.clock.now() - startedAt + CLOCK_TOLERANCE_S * 1000;
    const { authenticatedAt } = identity;
    if (authenticatedAt === null || Date.now() - authenticatedAt > sinceMs)
      throw new ProviderRefusal('NOT_RECENT', { userId, hasAuthTime: authenticatedAt !== null });
    const proof = { wrong_passwords: 0, proved_at: ctx.clock.now() };
    await trx.updateTable('sessions').set(proof).where('token_hash', '=', session).execute();
  });

/** For a person who has another account at the provider now: their next sign-in there is matched by email again. */
export const unlinkProvider = (ctx: StaffServices, { shop, actor }: Caller, id: string) =>
  changeAccount(ctx, async (trx) => {
    const { user: before } = await lockUser(trx, shop.id, id);
    const after = await updateUser(trx, id, { provider_issuer: null, provider_subject: null });
    await endSessionsOf(trx, id);
    await auditUser(ctx, trx, before, actor, 'PROVIDER_UNLINKED');
    return { before, after };
  });
