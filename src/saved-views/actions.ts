import type { UserRole } from '../../contract/admin-people.ts';
import {
  type ChangeSavedView,
  type CreateSavedView,
  MOST_VIEWS,
  type SavedView,
  searchErrors,
} from '../../contract/admin-work.ts';
import { isId } from '../../contract/common.ts';
import { type Row, SAVED_VIEW_COLUMNS } from '../db/schema.ts';
import type { Db, Trx } from '../db/types.ts';
import { newId } from '../lib/ids.ts';
import { parseJsonColumn } from '../lib/json.ts';
import { viewRow } from '../paging/page-response.ts';
import type { Core } from '../platform/core.ts';
import { ServiceError } from '../platform/errors.ts';
import { lockShop } from '../shops/store.ts';

// Saved filters of lists: a person's own, which only they see, and the shop's, which Admins share.

export interface Viewer {
  user: { id: string; role: UserRole };
  caller: { shop: { id: string } };
}

const viewSaved = ({ id, kind, name, search, user_id }: Row<'saved_views'>): SavedView => ({
  id,
  kind,
  name,
  search: parseJsonColumn('search', search),
  shared: user_id === null,
});

const viewsOf = (db: Db, { user, caller }: Viewer) =>
  db
    .selectFrom('saved_views')
    .select(SAVED_VIEW_COLUMNS)
    .where('shop_id', '=', caller.shop.id)
    .where((eb) => eb.or([eb('user_id', 'is', null), eb('user_id', '=', user.id)]));

export const listViews = async (ctx: Core, viewer: Viewer): Promise<SavedView[]> => {
  const rows = await viewsOf(ctx.db, viewer).orderBy('id').execute();
  return rows.flatMap((row) => viewRow(ctx, { name: 'saved_views', view: viewSaved }, row) ?? []);
};

const mustBeAdmin = ({ user }: Viewer): void => {
  if (user.role !== 'ADMIN') throw new ServiceError('ADMIN_REQUIRED');
};

const mustBeKnown = (kind: SavedView['kind'], search: Record<string, string>): void => {
  const errors = searchErrors(kind, search);
  if (errors.length > 0) throw new ServiceError('VALIDATION_FAILED', { errors });
};

/** Throws if the shop or the person has the maximum of views. The shop is locked, so that of two concurrent calls one fails. */
const mustHaveRoom = async (trx: Trx, viewer: Viewer, shared: boolean): Promise<void> => {
  await lockShop(trx, viewer.caller.shop.id);
  const views = await viewsOf(trx, viewer).execute();
  const others = views.filter(({ user_id }) => (user_id === null) === shared);
  if (others.length >= MOST_VIEWS) throw new ServiceError('TOO_MANY_VIEWS');
};

export const createView = async (ctx: Core, viewer: Viewer, given: CreateSavedView) => {
  const { kind, name, search, shared } = given;
  if (shared) mustBeAdmin(viewer);
  mustBeKnown(kind, search);
  const at = ctx.clock.now();
  const row: Row<'saved_views'> = {
    id: newId(at),
    shop_id: viewer.caller.shop.id,
    user_id: shared ? null : viewer.user.id,
    kind,
    name,
    search: JSON.stringify(search),
    created_at: at,
  };
  await ctx.db.transaction().execute(async (trx) => {
    await mustHaveRoom(trx, viewer, shared);
    await trx.insertInto('saved_views').values(row).execute();
  });
  return viewSaved(row);
};

/** Another person's view is a 404. */
const lockView = async (trx: Trx, viewer: Viewer, id: string): Promise<Row<'saved_views'>> => {
  const view = viewsOf(trx, viewer).where('id', '=', id).forUpdate();
  const row = isId(id) ? await view.executeTakeFirst() : undefined;
  if (!row) throw new ServiceError('VIEW_NOT_FOUND');
  if (row.user_id === null) mustBeAdmin(viewer);
  return row;
};

/** A view that is no longer shared belongs to the Admin who changed it. */
export const changeView = (ctx: Core, viewer: Viewer, id: string, given: ChangeSavedView) =>
  ctx.db.transaction().execute(async (trx) => {
    const { name, search, shared } = given;
    const before = await lockView(trx, viewer, id);
    if (shared) mustBeAdmin(viewer);
    if (search) mustBeKnown(before.kind, search);
    const isShared = shared ?? before.user_id === null;
    if (isShared !== (before.user_id === null)) await mustHaveRoom(trx, viewer, isShared);
    const change = {
      name: name ?? before.name,
      search: search ? JSON.stringify(search) : before.search,
      user_id: isShared ? null : viewer.user.id,
    };
    await trx.updateTable('saved_views').set(change).where('id', '=', id).execute();
    return viewSaved({ ...before, ...change });
  });

export const deleteView = (ctx: Core, viewer: Viewer, id: string): Promise<void> =>
  ctx.db.transaction().execute(async (trx) => {
    await lockView(trx, viewer, id);
    await trx.deleteFrom('saved_views').where('id', '=', id).execute();
  });
